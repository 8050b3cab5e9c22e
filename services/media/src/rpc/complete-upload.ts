import { setTimeout as sleep } from "node:timers/promises";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  CompleteUploadRequest,
  CompleteUploadResponseSchema,
} from "@postrider/contracts/media/v1/media_service_pb";
import { conflict, notFound, unavailable, unprocessable } from "@postrider/shared/errors";
import { assertIds } from "@postrider/shared/ids";
import { findMedia } from "#src/db/media.ts";
import type { StoredMedia } from "#src/domain/stored-media.ts";
import type { RpcDependencies } from "#src/operations/dependencies.ts";
import { within } from "#src/operations/long-work.ts";
import type { CheckOutcome } from "#src/operations/upload-checks.ts";
import { toMedia } from "#src/rpc/to-media.ts";

/** While another replica checks the upload. */
const POLL_INTERVAL_MS = 250;

/** Starts the check, or waits for one that already runs on any replica. */
export async function completeUpload(
  { sql, checks, completeMs }: Pick<RpcDependencies, "sql" | "checks" | "completeMs">,
  { workspaceId, id }: CompleteUploadRequest,
): Promise<MessageInitShape<typeof CompleteUploadResponseSchema>> {
  assertIds(workspaceId, id);
  const endsAt = performance.now() + completeMs;
  for (;;) {
    const media = await findMedia(sql, workspaceId, id);
    throwIfNotCheckable(media);
    if (media.status === "ready") return { media: toMedia(media) };
    const outcome = await within(checks.run(media), endsAt - performance.now());
    throwIfNotRetryable(outcome);
    if (performance.now() >= endsAt) throw unavailable();
    if (outcome === "busy") await sleep(POLL_INTERVAL_MS);
  }
}

function throwIfNotCheckable(media: StoredMedia | undefined): asserts media is StoredMedia {
  if (media === undefined || media.status === "deleting") throw notFound();
  if (media.status === "rejected")
    throw unprocessable("media_rejected", media.rejection === null ? [] : [media.rejection]);
}

function throwIfNotRetryable(outcome: CheckOutcome): void {
  if (outcome === "missing") throw conflict("media_not_uploaded");
  if (outcome === "unavailable") throw unavailable();
}
