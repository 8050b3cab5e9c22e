import { failpoint } from "@postrider/shared/process/failpoints";
import { startLoop } from "@postrider/shared/process/loop";
import { deleteForgottenUploads } from "#src/db/media.ts";
import { directUploadKey } from "#src/domain/object-keys.ts";
import type { JobDependencies } from "#src/operations/dependencies.ts";

const INTERVAL_MS = 60_000;
const PAGE_SIZE = 500;

export interface ForgottenUploadOptions extends JobDependencies {
  /** How long after its upload grant was issued an upload is deleted if it was not completed. */
  readonly pendingMs: number;
  /** How long after it was issued an upload grant allows an upload to begin. */
  readonly grantMs: number;
}

/**
 * Deletes uploads that were not completed in time, with their upload grants. The database row of an upload is deleted
 * before its stored object, so that a running upload or check cannot write to the row any more. If the object cannot be
 * deleted, it no longer has a row, so the job remove-orphans deletes it later. In the first day after a restore nothing is
 * deleted, because the upload may have been completed after the backup.
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

/**
 * Starts the job remove-forgotten-uploads. Several replicas may run it at the same time, because each replica deletes
 * different uploads.
 */
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
