import type { PlatformAnswer } from "#src/http/platform-answer.ts";
import { type SendGuard, sendOnce, type SendResult } from "#src/http/send-once.ts";
import type { PublishingConnector } from "#src/publishing/connector.ts";
import type { Handles } from "#src/publishing/handles.ts";
import { type Outcome, platformUnavailable } from "#src/publishing/outcome.ts";
import type { Publication } from "#src/publishing/publication.ts";
import { toUnanswered } from "#src/publishing/unanswered-call.ts";
import { addToPlaylist } from "./add-to-playlist.ts";
import { deletePost } from "./delete-post.ts";
import { limitedForMs, toFailure } from "./failures.ts";
import { createFindMatchingPost } from "./find-matching-post.ts";
import { createReconcile } from "./reconcile.ts";
import { toPut, toSessionState } from "./upload-calls.ts";
import { readUpload, restOf } from "./upload-state.ts";
import { createUploadStep } from "./upload-step.ts";
import { toPublished, type UploadedVideo } from "./uploaded-video.ts";

const CHUNK_BYTES = 8 * 1024 * 1024;

export interface YoutubeSettings {
  readonly baseUrl: string;
  readonly chunkBytes?: number;
}

function toFinalOutcome(publication: Publication, video: UploadedVideo): Outcome {
  return { kind: "published", ...toPublished(publication, video) };
}

/** After HTTP 429 the video may exist, and a later call reads the state of the upload session. */
function toRefusal(answer: PlatformAnswer): Outcome {
  const message = `HTTP ${answer.status}`;
  if (answer.status === 429)
    return { kind: "unknown", message, limitedForMs: limitedForMs(answer) };
  return toFailure(answer) ?? { kind: "unknown", message };
}

function toOutcome(answer: PlatformAnswer, publication: Publication): Outcome {
  const state = toSessionState(answer);
  switch (state?.kind) {
    case "complete":
      return toFinalOutcome(publication, state.video);
    case "incomplete":
      return platformUnavailable("YouTube has not received the whole video");
    case "gone":
      return { kind: "unknown", message: `the upload session has ended (HTTP ${answer.status})` };
    case undefined:
      return toRefusal(answer);
  }
}

/**
 * A video exists only when its last byte has arrived, so a call that was interrupted earlier
 * created no video.
 */
function toUnansweredOutcome(sent: Exclude<SendResult, PlatformAnswer>): Outcome {
  if (sent.kind === "no_answer" && !sent.isComplete) return platformUnavailable(sent.message);
  return toUnanswered(sent);
}

async function publish(
  publication: Publication,
  handles: Handles,
  guard: SendGuard,
): Promise<Outcome> {
  const upload = readUpload(handles);
  const rest = upload === undefined ? undefined : restOf(publication, upload);
  if (upload === undefined || rest === undefined)
    return { kind: "retryable", code: "internal_error", message: "the upload was not started" };
  if (upload.video !== undefined) return toFinalOutcome(publication, upload.video);
  const sent = await sendOnce(toPut(publication, upload.uri, rest), guard);
  return sent.kind === "answer" ? toOutcome(sent, publication) : toUnansweredOutcome(sent);
}

/**
 * A resumable upload, whose session works as the idempotency key: sending the last part again
 * returns the same video. YouTube may process the video for hours; the connector does not wait for
 * that.
 */
export function createYoutubePublishingConnector({
  baseUrl,
  chunkBytes = CHUNK_BYTES,
}: YoutubeSettings): PublishingConnector {
  return {
    platform: "youtube",
    maxResends: Number.MAX_SAFE_INTEGER,
    steps: () => [createUploadStep({ baseUrl, chunkBytes })],
    visibleParts: (publication, handles) => {
      const upload = readUpload(handles);
      if (upload === undefined || upload.video !== undefined) return [];
      return [restOf(publication, upload)].filter((part) => part !== undefined);
    },
    publish,
    reconcile: createReconcile(baseUrl),
    findMatchingPost: createFindMatchingPost(baseUrl),
    findDetails: (account, handles, signal) => addToPlaylist(baseUrl, account, handles, signal),
    canDelete: true,
    delete: (account, externalId, signal) => deletePost(baseUrl, account, externalId, signal),
  };
}
