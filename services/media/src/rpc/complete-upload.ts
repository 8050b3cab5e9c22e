import { setTimeout as sleep } from "node:timers/promises";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  CompleteUploadRequest,
  CompleteUploadResponseSchema,
} from "@postrider/contracts/media/v1/media_service_pb";
import { conflict, notFound, unavailable, unprocessable } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import { findMedia } from "#src/db/media.ts";
import type { StoredMedia } from "#src/domain/stored-media.ts";
import type { CheckOutcome } from "#src/operations/upload-checks.ts";
import type { MediaServiceDeps } from "#src/rpc/media-service.ts";
import { toMedia } from "#src/rpc/to-media.ts";

/** How often the row is looked at while somebody else checks. */
const POLL_MS = 250;

/** Answers with what a check found, whoever did it: one that is under way, here or elsewhere, is waited for. */
export async function completeUpload(
  deps: MediaServiceDeps,
  { workspaceId, id }: CompleteUploadRequest,
): Promise<MessageInitShape<typeof CompleteUploadResponseSchema>> {
  if (!isId(workspaceId) || !isId(id)) throw notFound();
  const endsAt = performance.now() + deps.completeMs;
  for (;;) {
    const media = await findMedia(deps.sql, workspaceId, id);
    assertTaken(media);
    if (media.status === "ready") return { media: toMedia(media) };
    const outcome = await within(deps.checks.run(media), endsAt - performance.now());
    await heed(outcome);
    if (performance.now() >= endsAt) throw unavailable();
  }
}

/** @throws What is answered for media that neither are ready nor can become so. */
function assertTaken(media: StoredMedia | undefined): asserts media is StoredMedia {
  if (media === undefined || media.status === "deleting") throw notFound();
  if (media.status === "rejected")
    throw unprocessable("media_rejected", media.rejection === null ? [] : [media.rejection]);
}

async function heed(outcome: CheckOutcome): Promise<void> {
  if (outcome === "missing") throw conflict("media_not_uploaded");
  if (outcome === "unavailable") throw unavailable();
  if (outcome === "busy") await sleep(POLL_MS);
}

/** The check's outcome, or `unavailable` when it takes longer: it goes on, and a later request finds what it found. */
async function within(check: Promise<CheckOutcome>, ms: number): Promise<CheckOutcome> {
  const stop = new AbortController();
  const late = sleep(Math.max(0, ms), "unavailable" as const, { signal: stop.signal, ref: false });
  try {
    return await Promise.race([check, late]);
  } finally {
    late.catch(() => undefined);
    stop.abort();
  }
}
