import type { Sql } from "@postrider/shared/postgres";
import { failpoint } from "@postrider/shared/process/failpoints";
import { startLoop } from "@postrider/shared/process/loop";
import type { Logger } from "@postrider/shared/telemetry/logger";
import { deleteForgottenUploads } from "#src/db/media.ts";
import { deleteExpiredGrants } from "#src/db/upload-grants.ts";
import { directUploadKey } from "#src/domain/object-keys.ts";
import type { ObjectStore } from "#src/storage/object-store.ts";

const EVERY_MS = 60_000;
const PAGE = 500;
/** An upload that began in time may end that long after its grant: no request takes longer. */
const GRANT_GRACE_MS = 60 * 60_000;

export interface ForgottenUploadsDeps {
  readonly sql: Sql;
  readonly store: ObjectStore;
  readonly logger: Logger;
  /** From the grant to the moment at which an upload that nobody completed is removed. */
  readonly pendingMs: number;
}

/**
 * Removes uploads that nobody completed, and grants that nobody used. The row goes first: who is uploading or checking
 * then finds nothing to write to. An object that stays behind is named by nobody and falls to the job for those.
 */
export async function removeForgottenUploads(deps: ForgottenUploadsDeps): Promise<boolean> {
  const { sql, pendingMs } = deps;
  const uploads = await deleteForgottenUploads(sql, { ageMs: pendingMs, limit: PAGE });
  failpoint("media.uploads-forgotten");
  const keys = uploads.flatMap(({ id, objectKey }) =>
    objectKey === null ? [directUploadKey(id)] : [directUploadKey(id), objectKey],
  );
  for (const key of keys) await removeObject(deps, key);
  const grants = await deleteExpiredGrants(sql, { graceMs: GRANT_GRACE_MS, limit: PAGE });
  return uploads.length === PAGE || grants === PAGE;
}

async function removeObject({ store, logger }: ForgottenUploadsDeps, key: string): Promise<void> {
  try {
    await store.delete(key);
  } catch (error) {
    logger.warn({ err: error, job: "remove-forgotten-uploads" }, "an object was not removed");
  }
}

/** Replicas take different uploads. */
export function startRemovingForgottenUploads(deps: ForgottenUploadsDeps): AsyncDisposable {
  return startLoop({
    idleMs: Math.min(EVERY_MS, Math.max(1_000, deps.pendingMs)),
    work: async () => await removeForgottenUploads(deps),
    onError: (error) =>
      deps.logger.warn(
        { err: error, job: "remove-forgotten-uploads" },
        "forgotten uploads were not removed",
      ),
  });
}
