import type { Sql } from "@postrider/shared/postgres";
import { startLoop } from "@postrider/shared/process/loop";
import type { Logger } from "@postrider/shared/telemetry/logger";
import { listNamedObjects, listPendingIds } from "#src/db/media.ts";
import { OBJECT_PREFIXES, uploadedMediaId } from "#src/domain/object-keys.ts";
import { removeAbandonedFolders } from "#src/operations/temp-folder.ts";
import type { ObjectStore } from "#src/storage/object-store.ts";

const EVERY_MS = 10 * 60_000;
const PAGE_KEYS = 500;

export interface OrphansDeps {
  readonly sql: Sql;
  readonly store: ObjectStore;
  readonly tempDir: string;
  readonly logger: Logger;
  /** Longer than anything takes from its first write to the commit that names the object. */
  readonly orphanMs: number;
}

/**
 * Removes what crashes left behind: objects that no row names, parts of objects, and files of checks. All of it is older
 * than any work that could still name it, so replicas may do this at the same time. Returns how many objects there were.
 */
export async function removeOrphans(deps: OrphansDeps): Promise<number> {
  const { store, tempDir } = deps;
  const before = new Date(Date.now() - deps.orphanMs);
  let count = 0;
  for (const prefix of OBJECT_PREFIXES) {
    let page: string[] = [];
    for await (const key of store.list(prefix, before)) {
      page.push(key);
      if (page.length < PAGE_KEYS) continue;
      count += await removeUnnamed(deps, page);
      page = [];
    }
    count += await removeUnnamed(deps, page);
  }
  await store.removeUnfinished(before);
  await removeAbandonedFolders(tempDir, before);
  return count;
}

async function removeUnnamed(
  { sql, store }: OrphansDeps,
  keys: readonly string[],
): Promise<number> {
  if (keys.length === 0) return 0;
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

export function startRemovingOrphans(deps: OrphansDeps): AsyncDisposable {
  const { logger } = deps;
  return startLoop({
    idleMs: Math.min(EVERY_MS, Math.max(1_000, deps.orphanMs)),
    work: async () => {
      const count = await removeOrphans(deps);
      if (count > 0) logger.info({ job: "remove-orphans", count }, "removed objects of nobody");
      return false;
    },
    onError: (error) =>
      logger.warn({ err: error, job: "remove-orphans" }, "objects of nobody were not removed"),
  });
}
