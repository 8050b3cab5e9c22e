import type { PlatformAnswer } from "#src/http/platform-answer.ts";
import { sendOnce, toUnanswered, type SendResult } from "#src/http/send-once.ts";
import type {
  Connector,
  Handles,
  Outcome,
  Publication,
  SendGuard,
} from "#src/publishing/connector.ts";
import { deleteVideo } from "./delete.ts";
import { limitedForMs, toFailure } from "./failures.ts";
import { findLock, toIds } from "./made-video.ts";
import { findTwinVideo, reconcileBySession } from "./reconcile.ts";
import { toPut, toSessionState } from "./upload-calls.ts";
import { readUpload, restOf, type MadeVideo } from "./upload-state.ts";
import { createUploadStep } from "./upload-step.ts";

const CHUNK_BYTES = 8 * 1024 * 1024;

function toEnd(publication: Publication, video: MadeVideo): Outcome {
  return findLock(publication, video) ?? { kind: "published", ...toIds(publication, video) };
}

/** A 429 is no refusal that has to be believed; asking the session costs nothing. */
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
      return toEnd(publication, state.video);
    case "incomplete":
      return {
        kind: "retryable",
        code: "platform_unavailable",
        message: "YouTube has not got all of the video",
      };
    case "gone":
      return { kind: "unknown", message: `the upload has ended (HTTP ${answer.status})` };
    case undefined:
      return toRefusal(answer);
  }
}

/** No video exists before its last byte has come (platforms reference 5.8), so what broke off before it made none. */
function toSilence(sent: Exclude<SendResult, PlatformAnswer>): Outcome {
  if (sent.kind === "no_answer" && !sent.isComplete)
    return { kind: "retryable", code: "platform_unavailable", message: sent.message };
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
    return { kind: "retryable", code: "internal_error", message: "the upload was not begun" };
  if (upload.video !== undefined) return toEnd(publication, upload.video);
  const sent = await sendOnce(toPut(publication, upload.uri, rest), guard);
  return sent.kind === "answer" ? toOutcome(sent, publication) : toSilence(sent);
}

/**
 * YouTube's Data API: a resumable upload, whose session is the key. The last part of the video is the visible call; sent
 * once more to the same session it is answered with the same video. Being processed takes hours and is not waited for.
 */
export function createYoutubeConnector(options: {
  readonly baseUrl: string;
  readonly chunkBytes?: number;
}): Connector {
  const { baseUrl, chunkBytes = CHUNK_BYTES } = options;
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
    reconcile: reconcileBySession(baseUrl),
    findTwin: findTwinVideo(baseUrl),
    canDelete: true,
    delete: (account, externalId, signal) => deleteVideo(baseUrl, account, externalId, signal),
  };
}
