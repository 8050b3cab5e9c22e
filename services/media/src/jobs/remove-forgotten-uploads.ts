import { failpoint } from "@postrider/shared/process/failpoints";
import { startLoop } from "@postrider/shared/process/loop";
import { deleteForgottenUploads } from "#src/db/media.ts";
import { directUploadKey } from "#src/domain/object-keys.ts";
import type { JobDependencies } from "#src/operations/dependencies.ts";

const INTERVAL_MS = 60_000;
const PAGE_SIZE = 500;

export interface ForgottenUploadOptions extends JobDependencies {
  readonly pendingMs: number;
  readonly grantMs: number;
}

/**
 * Deletes uploads that were not completed in time: first the row, so that a running upload or check
 * cannot write to it, then the object. An object that cannot be deleted has no row then, so
 * remove-orphans deletes it. In the first day after a restore nothing is deleted, because the
 * upload may have been completed after the backup.
 */
export async function removeForgottenUploads(deps: ForgottenUploadOptions): Promise<boolean> {
  const { sql, pendingMs, grantMs, guard } = deps;
  if (!(await guard.mayForget())) return false;
  const uploads = await deleteForgottenUploads(sql, { pendingMs, grantMs, limit: PAGE_SIZE });
  failpoint("media.uploads-forgotten");
  const keys = uploads.flatMap(({ id, objectKey }) =>
    objectKey === null ? [directUploadKey(id)] : [directUploadKey(id), objectKey],
  );
  for (const key of keys) await removeObject(deps, key);
  return uploads.length === PAGE_SIZE;
}

async function removeObject({ store, logger }: ForgottenUploadOptions, key: string): Promise<void> {
  try {
    await store.delete(key);
  } catch (error) {
    logger.warn(
      { err: error, job: "remove-forgotten-uploads" },
      "the object of an upload that was never completed could not be deleted; the job remove-orphans deletes it later",
    );
  }
}

export function startRemovingForgottenUploads(deps: ForgottenUploadOptions): AsyncDisposable {
  return startLoop({
    idleMs: Math.min(INTERVAL_MS, Math.max(1_000, deps.pendingMs)),
    work: async () => await removeForgottenUploads(deps),
    onError: (error) =>
      deps.logger.warn(
        { err: error, job: "remove-forgotten-uploads" },
        "uploads that were never completed could not be removed; the job remove-forgotten-uploads tries again",
      ),
  });
}
