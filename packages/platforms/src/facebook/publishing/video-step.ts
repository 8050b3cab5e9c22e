import { readGraphError, toStepFailure } from "#src/graph-api/failures.ts";
import { edgeOf, type GraphApi, openGraph } from "#src/graph-api/graph-request.ts";
import type { NoAnswer } from "#src/http/call-platform.ts";
import { type FormPart, multipartBody } from "#src/http/multipart.ts";
import { object, type PlatformAnswer, text } from "#src/http/platform-answer.ts";
import { formBody, type RequestBody } from "#src/http/platform-request.ts";
import { ask, type Caller } from "#src/publishing/caller.ts";
import { type Handles, jsonHandle } from "#src/publishing/handles.ts";
import { waitForProcessing } from "#src/publishing/look-schedule.ts";
import { mediaBytes } from "#src/publishing/media-bytes.ts";
import { platformUnavailable, refused } from "#src/publishing/outcome.ts";
import { fileAt, type Publication } from "#src/publishing/publication.ts";
import {
  type PrepareStep,
  runAgain,
  type StepResult,
  type StepWait,
} from "#src/publishing/steps.ts";
import { type FacebookContext, idIn, videoTexts } from "./calls.ts";
import { MEANINGS, WRONG_OFFSET } from "./error-meanings.ts";
import { readVideo } from "./video-status.ts";

interface Video {
  readonly id: string;
  readonly waitingSince: number;
  readonly session: string;
  /** Equal to `end` when Facebook has the whole video. */
  readonly start: number;
  readonly end: number;
  /**
   * `uploaded` = Facebook has all bytes, and the call that ends the upload publishes the video ·
   * `ready` = it has processed the unpublished video · `lost` = the upload must start again.
   */
  readonly stage: "sending" | "uploaded" | "processing" | "ready" | "lost";
  readonly restarts: number;
}

const MAX_RESTARTS = 1;
const MAX_CHUNK_BYTES = 32 * 1024 * 1024;

const VIDEO = jsonHandle<Video>("video");

export function uploadedVideo(
  handles: Handles,
): (Pick<Video, "id" | "session"> & { readonly stage: "uploaded" | "ready" }) | undefined {
  const video = VIDEO.read(handles);
  if (video?.stage !== "ready" && video?.stage !== "uploaded") return undefined;
  return { id: video.id, session: video.session, stage: video.stage };
}

function next(video: Video): StepWait {
  return runAgain(VIDEO.write(video));
}

interface VideoContext extends FacebookContext {
  readonly uploads: Caller;
  readonly isTwoPhase: boolean;
}

function post({ uploads, publication }: VideoContext, body: RequestBody) {
  return ask(uploads, { method: "POST", path: edgeOf(publication, "videos"), body });
}

function offsetsIn(source: unknown): Pick<Video, "start" | "end"> | undefined {
  const [start, end] = [text(source, "start_offset"), text(source, "end_offset")];
  if (start === undefined || end === undefined) return undefined;
  const offsets = { start: Number(start), end: Number(end) };
  return Number.isSafeInteger(offsets.start) && Number.isSafeInteger(offsets.end)
    ? offsets
    : undefined;
}

async function start(context: VideoContext, restarts: number): Promise<StepResult> {
  const { bytes } = fileAt(context.publication, 0);
  const body = formBody({ upload_phase: "start", file_size: String(bytes) });
  const answer = await post(context, body);
  const id = idIn(answer, "video_id");
  const session = idIn(answer, "upload_session_id");
  const offsets = answer.kind === "answer" ? offsetsIn(answer.json) : undefined;
  if (id === undefined || session === undefined || offsets === undefined)
    return toStepFailure(answer, MEANINGS);
  return next({ id, session, ...offsets, stage: "sending", waitingSince: 0, restarts });
}

function restart(video: Video, answer: PlatformAnswer | NoAnswer): StepResult {
  const code = answer.kind === "answer" ? readGraphError(answer)?.code : undefined;
  const isLost = code === 6000 || code === 6001;
  return isLost && video.restarts < MAX_RESTARTS
    ? next({ ...video, stage: "lost", restarts: video.restarts + 1 })
    : toStepFailure(answer, MEANINGS);
}

async function sendChunk(context: VideoContext, video: Video): Promise<StepResult> {
  const media = fileAt(context.publication, 0);
  const { session, start, end } = video;
  const length = Math.min(end, media.bytes, start + MAX_CHUNK_BYTES) - start;
  const { fileName } = media;
  const source = mediaBytes(media, { start, length });
  const parts: readonly FormPart[] = [
    { name: "upload_phase", value: "transfer" },
    { name: "upload_session_id", value: session },
    { name: "start_offset", value: String(start) },
    { name: "video_file_chunk", fileName, contentType: "application/octet-stream", source },
  ];
  const answer = await post(context, multipartBody(parts));
  if (answer.kind === "no_answer") return toStepFailure(answer, MEANINGS);
  const offsets = answer.status === 200 ? offsetsIn(answer.json) : toCorrection(answer);
  return offsets === undefined ? restart(video, answer) : advance(video, { ...video, ...offsets });
}

/** Without progress the attempt fails: the same bytes would be sent without end. */
function advance(before: Video, video: Video): StepResult {
  return video.start > before.start
    ? next(video)
    : {
        ...platformUnavailable("Facebook does not store the bytes that it receives"),
        handles: VIDEO.write(video),
      };
}

/** When Facebook has a chunk already, because only its answer was lost. */
function toCorrection(answer: PlatformAnswer): Pick<Video, "start" | "end"> | undefined {
  return readGraphError(answer)?.subcode === WRONG_OFFSET
    ? offsetsIn(object(object(answer.json, "error"), "error_data"))
    : undefined;
}

export function finishBody(publication: Publication, session: string, published: boolean) {
  return formBody({
    upload_phase: "finish",
    upload_session_id: session,
    published: String(published),
    ...videoTexts(publication),
  });
}

async function finish(context: VideoContext, video: Video): Promise<StepResult> {
  const answer = await post(context, finishBody(context.publication, video.session, false));
  const isDone = answer.kind === "answer" && answer.json?.success === true;
  return isDone
    ? next({ ...video, stage: "processing", waitingSince: Date.now() })
    : restart(video, answer);
}

async function look({ graph }: FacebookContext, video: Video): Promise<StepResult> {
  const status = await readVideo(graph, video.id);
  if ("kind" in status) return status;
  if (status.processing === "error") return refused("media_rejected", status.problem);
  return status.processing === "complete"
    ? VIDEO.write({ ...video, stage: "ready" })
    : waitForProcessing(video.waitingSince, VIDEO.write(video));
}

async function run(context: VideoContext, video: Video | undefined): Promise<StepResult> {
  if (video === undefined || video.stage === "lost")
    return await start(context, video?.restarts ?? 0);
  if (video.stage === "processing") return await look(context, video);
  if (video.start < video.end) return await sendChunk(context, video);
  return context.isTwoPhase
    ? await finish(context, video)
    : VIDEO.write({ ...video, stage: "uploaded" });
}

/**
 * Each answer is stored before the next call. In two phases, the step also ends the upload and
 * waits until Facebook has processed the unpublished video.
 */
export function createVideoStep(
  api: GraphApi,
  { videoApi, isTwoPhase }: { readonly videoApi: GraphApi; readonly isTwoPhase: boolean },
): PrepareStep {
  const isDone = (handles: Handles) => {
    const stage = uploadedVideo(handles)?.stage;
    return isTwoPhase ? stage === "ready" : stage !== undefined;
  };
  return {
    name: "video",
    isDone,
    run: (publication, handles, signal) => {
      const graph = openGraph(api, publication, signal);
      const uploads = openGraph(videoApi, publication, signal);
      return run({ graph, uploads, isTwoPhase, publication }, VIDEO.read(handles));
    },
  };
}
