import type { Sql } from "@postrider/shared/postgres";
import { failpoint } from "@postrider/shared/process/failpoints";
import { startLoop, type Loop } from "@postrider/shared/process/loop";
import type { Logger } from "@postrider/shared/telemetry/logger";
import { claimRemovable, forgetObjects, type RemovableMedia } from "#src/db/media-leases.ts";
import { directUploadKey } from "#src/domain/object-keys.ts";
import type { ObjectStore } from "#src/storage/object-store.ts";

const EVERY_MS = 2_000;
const PAGE_MEDIA = 20;

export interface RemoveObjectsDeps {
  readonly sql: Sql;
  readonly store: ObjectStore;
  readonly logger: Logger;
  /** How long a page may take before another replica takes it again; also the time between two tries. */
  readonly leaseMs: number;
}

/**
 * Removes the objects of deleted and of rejected media, and then the rows of the deleted ones: as long as an object may be
 * there, a row names it. Whatever fails is tried again when the lease has ended. Returns how many were taken.
 */
export async function removeObjects(deps: RemoveObjectsDeps): Promise<number> {
  const { sql, leaseMs } = deps;
  const page = await claimRemovable(sql, { leaseMs, limit: PAGE_MEDIA });
  const gone = await Promise.all(page.map((media) => removeOf(deps, media)));
  failpoint("media.objects-removed");
  const ids = page.filter((_, index) => gone[index]).map(({ id }) => id);
  if (ids.length > 0) await forgetObjects(sql, ids);
  return page.length;
}

async function removeOf(
  { store, logger }: RemoveObjectsDeps,
  { id, objectKey, deliveryKey }: RemovableMedia,
): Promise<boolean> {
  const keys = [objectKey, deliveryKey, directUploadKey(id)].filter((key) => key !== null);
  try {
    for (const key of keys) await store.delete(key);
    return true;
  } catch (error) {
    logger.warn({ err: error, job: "remove-objects" }, "an object was not removed");
    return false;
  }
}

/** Removes objects as soon as their media are deleted. Replicas take different ones. */
export function startRemovingObjects(deps: RemoveObjectsDeps): Loop {
  return startLoop({
    idleMs: EVERY_MS,
    work: async () => (await removeObjects(deps)) === PAGE_MEDIA,
    onError: (error) =>
      deps.logger.warn({ err: error, job: "remove-objects" }, "objects were not removed"),
  });
}
