import { callPlatform, type NoAnswer, type PlatformRequest } from "#src/http/http.ts";
import { text, type PlatformAnswer } from "#src/http/platform-answer.ts";
import { bytesBody, mediaBytes } from "#src/http/request-body.ts";
import type {
  Failure,
  Handles,
  MediaPart,
  PrepareStep,
  Publication,
  PublicationMedia,
  StepResult,
  StepWait,
} from "#src/publishing/connector.ts";
import { ask, dataOf, type TiktokAccess } from "./calls.ts";
import { askForCreator, privacyLevelOf, readCreator, type Creator } from "./creator.ts";
import { toStepFailure } from "./failures.ts";
import { fetchStatus } from "./status.ts";
import {
  chunkOf,
  chunksIn,
  isReady,
  planChunks,
  readUpload,
  toHandle,
  type Upload,
} from "./upload-state.ts";

/** How long TikTok takes chunks after the init. */
const UPLOAD_LIFE_MS = 3_600_000;

interface Place extends TiktokAccess {
  readonly publication: Publication;
  readonly media: PublicationMedia;
  readonly signal: AbortSignal;
}

/** Stored, and the step goes on at once. */
function next(handles: Handles): StepWait {
  return { kind: "wait", afterMs: 0, handles };
}

/** Stored; the step ends when nothing is missing but the last chunk, which only the visible call sends. */
function advance(upload: Upload): StepResult {
  return isReady(upload) ? toHandle(upload) : next(toHandle(upload));
}

function isFailure(made: Handles | Failure): made is Failure {
  return ["refused", "retryable", "token_refused"].includes(made.kind ?? "");
}

/** The film's address is TikTok's own choice; one that nobody can trust gets no film. */
function isTrusted(url: string, baseUrl: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, origin } = new URL(url);
  return protocol === "https:" || origin === new URL(baseUrl).origin;
}

/** `Content-Range` counts the bytes of the whole film. */
export function toChunkRequest(upload: Upload, part: MediaPart): PlatformRequest {
  const { media, start, length } = part;
  return {
    method: "PUT",
    url: upload.url,
    headers: { "content-range": `bytes ${start}-${start + length - 1}/${media.bytes}` },
    body: bytesBody(media.contentType, mediaBytes(media, { start, length })),
    secrets: [upload.url],
  };
}

function toPostInfo(publication: Publication, creator: Creator) {
  return {
    title: publication.text,
    privacy_level: privacyLevelOf(publication),
    disable_comment: creator.isCommentDisabled,
    disable_duet: creator.isDuetDisabled,
    disable_stitch: creator.isStitchDisabled,
  };
}

/** Nothing is posted before all bytes have arrived, so an init whose answer is lost can be made again. */
async function begin(place: Place, creator: Creator): Promise<StepResult> {
  const { publication, media, signal } = place;
  const plan = planChunks(media.bytes);
  const body = {
    post_info: toPostInfo(publication, creator),
    source_info: {
      source: "FILE_UPLOAD",
      video_size: media.bytes,
      chunk_size: plan.chunkBytes,
      total_chunk_count: plan.chunkCount,
    },
  };
  const answer = await ask(place, "post/publish/video/init/", body, signal);
  const data = dataOf(answer);
  if (data === undefined) return toStepFailure(answer);
  const publishId = text(data, "publish_id");
  const url = text(data, "upload_url");
  if (publishId === undefined || url === undefined || !isTrusted(url, place.baseUrl))
    return { kind: "retryable", code: "platform_unavailable", message: "no address came" };
  const expiresAt = Date.now() + UPLOAD_LIFE_MS;
  return advance({ ...plan, publishId, url, stage: "open", sent: 0, expiresAt, misses: 0 });
}

async function sendChunk(place: Place, upload: Upload): Promise<StepResult> {
  const part = chunkOf(upload, place.media, upload.sent);
  const answer = await callPlatform(toChunkRequest(upload, part), place.signal);
  return await onChunk(place, upload, answer);
}

async function onChunk(
  place: Place,
  upload: Upload,
  answer: PlatformAnswer | NoAnswer,
): Promise<StepResult> {
  if (answer.kind === "no_answer") return toStepFailure(answer);
  switch (answer.status) {
    case 206:
      return advance({ ...upload, sent: upload.sent + 1 });
    case 403:
    case 404:
    case 410:
      return advance({ ...upload, stage: "lost" });
    case 416:
      return await catchUp(place, upload);
    case 400:
    case 413:
    case 415:
      return { kind: "refused", code: "media_rejected", message: `HTTP ${answer.status}` };
    default:
      return toStepFailure(answer);
  }
}

/** An answer was lost: TikTok knows how much it has. */
async function catchUp(place: Place, upload: Upload): Promise<StepResult> {
  const status = await fetchStatus(place, upload.publishId, place.signal);
  if (status.kind !== "status") return toStepFailure(status.answer);
  const sent = chunksIn(upload, status.uploadedBytes ?? 0);
  // The same place again would be refused again.
  const stage = sent === upload.sent ? "lost" : upload.stage;
  return advance({ ...upload, sent, stage });
}

async function run(place: Place, handles: Handles): Promise<StepResult> {
  const upload = readUpload(handles);
  if (upload?.stage === "open") return await sendChunk(place, upload);
  const creator = readCreator(handles);
  if (creator !== undefined) return await begin(place, creator);
  const made = await askForCreator(place, place.publication, place.signal);
  return isFailure(made) ? made : next(made);
}

/** Everything of a film but its last chunk: what the creator may do, the init, and the chunks in their order. */
export function createUploadStep(baseUrl: string): PrepareStep {
  return {
    name: "upload",
    isDone: (handles) => {
      const upload = readUpload(handles);
      return upload !== undefined && isReady(upload);
    },
    run: async (publication, handles, signal) => {
      const [media] = publication.media;
      if (media === undefined) throw new Error("the post has no film");
      return await run({ baseUrl, account: publication, publication, media, signal }, handles);
    },
  };
}
