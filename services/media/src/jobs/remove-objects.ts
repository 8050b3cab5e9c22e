import { NIL_ID } from "@postrider/shared/ids";
import type { ISql } from "@postrider/shared/postgres";
import { startDueLoop } from "@postrider/shared/postgres/due-loop";
import { failpoint } from "@postrider/shared/process/failpoints";
import type { Loop } from "@postrider/shared/process/loop";
import {
  claimRemovable,
  forgetObjects,
  isRemovable,
  listRemovableWorkspaces,
  type RemovableMedia,
} from "#src/db/media-leases.ts";
import { listRenditionObjects } from "#src/db/renditions.ts";
import { directUploadKey } from "#src/domain/object-keys.ts";
import type { JobDependencies } from "#src/operations/dependencies.ts";

const IDLE_MS = 60_000;
const PAGE_SIZE = 20;

export interface RemoveObjectsOptions extends JobDependencies {
  /**
   * How long a claim keeps other replicas from the same media, and the wait after a failed
   * deletion.
   */
  readonly leaseMs: number;
}

/**
 * The workspaces take turns, so that many deleted media of one workspace do not delay the deletion
 * of others', which count as stored until then.
 */
export class RemovalTurn {
  #after = NIL_ID;

  async next(sql: ISql): Promise<readonly string[]> {
    const found = await listRemovableWorkspaces(sql, this.#after, PAGE_SIZE);
    const wasFirst = this.#after === NIL_ID;
    this.#after = (found.length === PAGE_SIZE ? found.at(-1) : undefined) ?? NIL_ID;
    return found.length === 0 && !wasFirst ? await this.next(sql) : found;
  }
}

/**
 * Deletes the objects of deleted and rejected media and of their renditions, and then the rows, so
 * that a row names every object that may still exist. Nothing is claimed while files may not be
 * deleted.
 *
 * @returns The number of claimed media.
 */
export async function removeObjects(
  deps: RemoveObjectsOptions,
  turn = new RemovalTurn(),
): Promise<number> {
  const { sql, leaseMs, guard } = deps;
  if (!(await guard.mayDelete())) return 0;
  const workspaceIds = await turn.next(sql);
  if (workspaceIds.length === 0) return 0;
  const page = await claimRemovable(sql, workspaceIds, { leaseMs, limit: PAGE_SIZE });
  const renditions = await listRenditionObjects(
    sql,
    page.map(({ id }) => id),
  );
  const removed = await Promise.all(
    page.map((media) => removeObjectsOf(deps, media, renditions.get(media.id) ?? [])),
  );
  failpoint("media.objects-removed");
  const ids = page.filter((_, index) => removed[index]).map(({ id }) => id);
  if (ids.length > 0) await forgetObjects(sql, ids, deps.store);
  return page.length;
}

async function removeObjectsOf(
  { store, logger }: RemoveObjectsOptions,
  { id, objectKey, deliveryKey }: RemovableMedia,
  renditionKeys: readonly string[],
): Promise<boolean> {
  const ownKeys = [objectKey, deliveryKey, directUploadKey(id)].filter((key) => key !== null);
  const keys = [...ownKeys, ...renditionKeys];
  try {
    for (const key of keys) await store.delete(key);
    return true;
  } catch (error) {
    logger.warn(
      { err: error, job: "remove-objects" },
      "the objects of deleted media could not be deleted from the object store; the job remove-objects tries again",
    );
    return false;
  }
}

export function startRemovingObjects(deps: RemoveObjectsOptions): Loop {
  const turn = new RemovalTurn();
  return startDueLoop({
    sql: deps.sql,
    isDue: (sql) => sql`exists (select from media where ${isRemovable(sql)})`,
    idleMs: IDLE_MS,
    work: async () => (await removeObjects(deps, turn)) > 0,
    onError: (error) =>
      deps.logger.warn(
        { err: error, job: "remove-objects" },
        "deleted media could not be claimed in the database; the job remove-objects tries again",
      ),
  });
}
