import { callPlatform, type NoAnswer } from "#src/http/call-platform.ts";
import { type PlatformAnswer, text } from "#src/http/platform-answer.ts";
import { bytesBody, type PlatformRequest } from "#src/http/platform-request.ts";
import type { Caller } from "#src/publishing/caller.ts";
import type { Handles } from "#src/publishing/handles.ts";
import { mediaBytes } from "#src/publishing/media-bytes.ts";
import { platformUnavailable, refused } from "#src/publishing/outcome.ts";
import {
  fileAt,
  type MediaPart,
  type Publication,
  type PublicationMedia,
} from "#src/publishing/publication.ts";
import { isFailure, type PrepareStep, runAgain, type StepResult } from "#src/publishing/steps.ts";
import { askTiktok, dataOf } from "./calls.ts";
import {
  type ChunkPlan,
  type ChunkSizes,
  countRefusedPlans,
  isSizeRefused,
  planChunks,
  toRefusedPlans,
} from "./chunk-plan.ts";
import {
  askForCreatorInfo,
  type CreatorInfo,
  privacyLevelOf,
  readCreatorInfo,
  toVideoFlags,
} from "./creator-info.ts";
import { toStepFailure } from "./failures.ts";
import { fetchStatus } from "./publish-status.ts";
import { chunkOf, chunksIn, isReady, mayBeComplete, UPLOAD, type Upload } from "./upload-state.ts";

const UPLOAD_LIFE_MS = 3_600_000;

interface VideoUpload extends Caller {
  readonly chunkSizes: ChunkSizes;
  readonly publication: Publication;
  readonly media: PublicationMedia;
  readonly attempt: { starts: number };
}

/** In one attempt: upload URLs that TikTok refuses would be asked for without end otherwise. */
const MAX_STARTS = 2;

function advance(upload: Upload): StepResult {
  return isReady(upload) ? UPLOAD.write(upload) : runAgain(UPLOAD.write(upload));
}

/**
 * Whether a video may be sent to the upload URL that TikTok returned. The URL must use HTTPS or
 * have the origin of TikTok's configured address.
 */
function isTrusted(url: string, baseUrl: string): boolean {
  const parsed = URL.parse(url);
  return parsed?.protocol === "https:" || parsed?.origin === new URL(baseUrl).origin;
}

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

function toPostInfo(publication: Publication, creator: CreatorInfo) {
  const coverMs = publication.media[0]?.coverMs;
  return {
    title: publication.text,
    privacy_level: privacyLevelOf(publication),
    ...toVideoFlags(publication, creator),
    video_cover_timestamp_ms: coverMs ?? undefined,
  };
}

/** With the first way to divide the video that TikTok has not refused. */
async function start(
  context: VideoUpload,
  creator: CreatorInfo,
  handles: Handles,
): Promise<StepResult> {
  const plans = planChunks(context.media.bytes, context.chunkSizes);
  const refused = Math.min(countRefusedPlans(handles), plans.length - 1);
  const plan = plans[refused];
  if (plan === undefined) throw new Error("there is no way to divide the video");
  const result = await startWith(context, creator, plan);
  const mayTryNext = refused + 1 < plans.length;
  return isFailure(result) && mayTryNext && isSizeRefused(result.message)
    ? runAgain(toRefusedPlans(refused + 1))
    : result;
}

/**
 * TikTok posts nothing before all bytes have arrived, so an init call whose answer was lost can be
 * repeated.
 */
async function startWith(
  context: VideoUpload,
  creator: CreatorInfo,
  plan: ChunkPlan,
): Promise<StepResult> {
  const { publication, media } = context;
  const body = {
    post_info: toPostInfo(publication, creator),
    source_info: {
      source: "FILE_UPLOAD",
      video_size: media.bytes,
      chunk_size: plan.chunkBytes,
      total_chunk_count: plan.chunkCount,
    },
  };
  const answer = await askTiktok(context, "post/publish/video/init/", body);
  const data = dataOf(answer);
  if (data === undefined) return toStepFailure(answer);
  const publishId = text(data, "publish_id");
  const url = text(data, "upload_url");
  if (publishId === undefined || url === undefined || !isTrusted(url, context.baseUrl))
    return platformUnavailable("TikTok answered without a valid upload URL");
  const expiresAt = Date.now() + UPLOAD_LIFE_MS;
  context.attempt.starts += 1;
  return advance({ ...plan, publishId, url, stage: "open", sent: 0, expiresAt, misses: 0 });
}

async function sendChunk(context: VideoUpload, upload: Upload): Promise<StepResult> {
  const part = chunkOf(upload, context.media, upload.sent);
  const answer = await callPlatform(toChunkRequest(upload, part), context.signal);
  return await onChunk(context, upload, answer);
}

async function onChunk(
  context: VideoUpload,
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
      return giveUp(upload);
    case 416:
      return await catchUp(context, upload);
    case 400:
    case 413:
    case 415:
      return giveUp(upload, refused("media_rejected", `HTTP ${answer.status}`));
    default:
      return toStepFailure(answer);
  }
}

async function catchUp(context: VideoUpload, upload: Upload): Promise<StepResult> {
  const status = await fetchStatus(context, upload.publishId);
  if (status.kind !== "status") return toStepFailure(status.answer);
  const sent = chunksIn(upload, status.uploadedBytes ?? 0);
  // If no further chunk has arrived, TikTok would refuse the same chunk again.
  return sent === upload.sent ? giveUp(upload) : advance({ ...upload, sent });
}

/**
 * The upload ends with `end`, by default starts again. If TikTok may have the whole video, a second
 * upload could publish it twice: then the publishing call is made again, and only the search gives
 * the upload up.
 */
function giveUp(
  upload: Upload,
  end: StepResult = advance({ ...upload, stage: "lost" }),
): StepResult {
  return mayBeComplete(upload) ? advance({ ...upload, sent: upload.chunkCount - 1 }) : end;
}

async function run(context: VideoUpload, handles: Handles): Promise<StepResult> {
  const upload = UPLOAD.read(handles);
  if (upload?.stage === "open") return await sendChunk(context, upload);
  if (context.attempt.starts >= MAX_STARTS)
    return platformUnavailable("TikTok does not take the video at its upload URL");
  const creator = readCreatorInfo(handles);
  if (creator !== undefined) return await start(context, creator, handles);
  const made = await askForCreatorInfo(context, context.publication);
  return isFailure(made) ? made : runAgain(made);
}

export function createUploadStep(baseUrl: string, chunkSizes: ChunkSizes): PrepareStep {
  const attempt = { starts: 0 };
  return {
    name: "upload",
    isDone: (handles) => {
      const upload = UPLOAD.read(handles);
      return upload !== undefined && isReady(upload);
    },
    run: async (publication, handles, signal) => {
      const media = fileAt(publication, 0);
      const post = { account: publication, publication, media };
      return await run({ baseUrl, chunkSizes, attempt, ...post, signal }, handles);
    },
  };
}
