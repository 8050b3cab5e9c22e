import { sendOnce, type SendGuard } from "#src/http/send-once.ts";
import type { Handles } from "#src/publishing/handles.ts";
import { platformUnavailable, type Outcome } from "#src/publishing/outcome.ts";
import type { MediaPart, Publication } from "#src/publishing/publication.ts";
import { toUnanswered } from "#src/publishing/unanswered-call.ts";
import { chunkOf, isReady, readUpload, type Upload } from "./upload-state.ts";
import { toChunkRequest } from "./upload-step.ts";

const FIRST_LOOK_MS = 1000;
/** TikTok's answer to an upload does not say how long to wait. */
const LIMIT_WAIT_MS = 60_000;

export function findLastChunk(
  { media: [media] }: Publication,
  handles: Handles,
): { readonly upload: Upload; readonly part: MediaPart } | undefined {
  const upload = readUpload(handles);
  if (media === undefined || upload === undefined || !isReady(upload)) return undefined;
  return { upload, part: chunkOf(upload, media, upload.chunkCount - 1) };
}

function toOutcome(status: number): Outcome {
  const message = `HTTP ${status}`;
  switch (status) {
    case 201:
      return { kind: "pending", afterMs: FIRST_LOOK_MS };
    case 400:
    case 413:
    case 415:
      return { kind: "refused", code: "media_rejected", message };
    case 429:
      return { kind: "unknown", message, limitedForMs: LIMIT_WAIT_MS };
    default:
      // TikTok may or may not publish the video. The status check later asks TikTok how many bytes
      // of the video it has.
      return { kind: "unknown", message };
  }
}

export async function publishVideo(
  publication: Publication,
  handles: Handles,
  guard: SendGuard,
): Promise<Outcome> {
  const last = findLastChunk(publication, handles);
  if (last === undefined)
    return { kind: "retryable", code: "internal_error", message: "the video is not uploaded" };
  const sent = await sendOnce(toChunkRequest(last.upload, last.part), guard);
  if (sent.kind === "answer") return toOutcome(sent.status);
  // TikTok posts only complete videos, so a video whose last byte was not sent is not posted.
  if (sent.kind === "no_answer" && !sent.isComplete) return platformUnavailable(sent.message);
  return toUnanswered(sent);
}
