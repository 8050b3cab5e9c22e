import { readClock } from "@postrider/shared/postgres/clock";
import { startLoop } from "@postrider/shared/process/loop";
import { claimRun, listNamedObjects, listPendingIds } from "#src/db/media-deletion.ts";
import { OBJECT_PREFIXES, uploadedMediaId } from "#src/domain/object-keys.ts";
import type { JobDependencies } from "#src/operations/dependencies.ts";

/** Interval for all replicas together, because each run lists the whole object store. */
const INTERVAL_MS = 60 * 60_000;
/** How many times within `INTERVAL_MS` each replica checks whether a run is due. */
const LOOKS = 6;
const PAGE_SIZE = 500;

export interface RemoveOrphansOptions extends JobDependencies {
  /** Every operation commits the row that names its object in less time. */
  readonly orphanMs: number;
}

/**
 * Deletes objects that no row names, and unfinished writes. Only data older than any running
 * operation is deleted, so several replicas may run the job.
 *
 * Before each page it checks that data and store still belong to this deployment, and were not
 * restored in the last day.
 *
 * @returns The number of deleted objects.
 */
export async function removeOrphans(deps: RemoveOrphansOptions): Promise<number> {
  const { store } = deps;
  const before = new Date((await readClock(deps.sql)).getTime() - deps.orphanMs);
  let count = 0;
  for (const prefix of OBJECT_PREFIXES) {
    let page: string[] = [];
    for await (const key of store.list(prefix, before)) {
      page.push(key);
      if (page.length < PAGE_SIZE) continue;
      count += await deleteUnnamed(deps, page);
      page = [];
    }
    count += await deleteUnnamed(deps, page);
  }
  if (await deps.guard.mayCleanUp()) await store.removeUnfinished(before);
  return count;
}

async function deleteUnnamed(
  { sql, store, guard }: RemoveOrphansOptions,
  keys: readonly string[],
): Promise<number> {
  if (keys.length === 0 || !(await guard.mayCleanUp())) return 0;
  const uploads = keys.flatMap((key) => uploadedMediaId(key) ?? []);
  const [named, pending] = await Promise.all([
    listNamedObjects(sql, keys),
    uploads.length === 0 ? [] : listPendingIds(sql, uploads),
  ]);
  const kept = new Set(named);
  const awaited = new Set(pending);
  const orphans = keys.filter((key) => !kept.has(key) && !awaited.has(uploadedMediaId(key) ?? ""));
  for (const key of orphans) await store.delete(key);
  return orphans.length;
}

export async function removeOrphansWhenDue(
  deps: RemoveOrphansOptions,
  intervalMs: number,
): Promise<boolean> {
  await deps.guard.countPass();
  if (!(await deps.guard.mayCleanUp())) return false;
  if (!(await claimRun(deps.sql, "remove-orphans", intervalMs))) return false;
  const count = await removeOrphans(deps);
  if (count > 0)
    deps.logger.info(
      { job: "remove-orphans", count },
      "stored objects that no row in the database references were deleted",
    );
  return true;
}

export function startRemovingOrphans(deps: RemoveOrphansOptions): AsyncDisposable {
  const { logger } = deps;
  const intervalMs = Math.min(INTERVAL_MS, Math.max(1_000, deps.orphanMs));
  return startLoop({
    idleMs: intervalMs / LOOKS,
    work: async () => {
      await removeOrphansWhenDue(deps, intervalMs);
      return false;
    },
    onError: (error) =>
      logger.warn(
        { err: error, job: "remove-orphans" },
        "stored objects that no row in the database references could not be deleted; the job remove-orphans tries again",
      ),
  });
}
