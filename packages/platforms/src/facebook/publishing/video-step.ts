import { toStepFailure } from "#src/graph/failures.ts";
import type { GraphApi } from "#src/graph/graph-call.ts";
import { readGraphError } from "#src/graph/graph-error.ts";
import type { NoAnswer } from "#src/http/http.ts";
import { multipartBody, type FormPart } from "#src/http/multipart.ts";
import { object, text, type PlatformAnswer } from "#src/http/platform-answer.ts";
import { formBody, mediaBytes, type RequestBody } from "#src/http/request-body.ts";
import type { Handles, PrepareStep, StepResult, StepWait } from "#src/publishing/connector.ts";
import { callGraph, filmOf, idIn, pagePath, type FacebookContext } from "./context.ts";
import { MEANINGS, OUT_OF_STEP } from "./meanings.ts";
import { nextCheck, toRejected, type Patience } from "./patience.ts";
import { readVideo } from "./video-status.ts";

/** How far a video is; stored as a handle after each answer of Facebook. */
interface Video extends Patience {
  readonly id: string;
  readonly session: string;
  /** Where the next chunk begins and ends, as Facebook asks for it; both are the end when all is there. */
  readonly start: number;
  readonly end: number;
  readonly stage: "sending" | "processing" | "ready" | "lost";
  /** How often it began again because Facebook did not know it any more. */
  readonly restarts: number;
}

const MAX_RESTARTS = 1;
/** What Facebook asks for at a time is a few MB. */
const MAX_CHUNK_BYTES = 32 * 1024 * 1024;

function readState(handles: Handles): Video | undefined {
  return handles.video === undefined ? undefined : (JSON.parse(handles.video) as Video);
}

/** The id under which the video was made, once it can be published. */
export function videoId(handles: Handles): string | undefined {
  const video = readState(handles);
  return video?.stage === "ready" ? video.id : undefined;
}

function toHandle(video: Video): Handles {
  return { video: JSON.stringify(video) };
}

/** Stored, and the step goes on at once. */
function next(video: Video): StepWait {
  return { kind: "wait", afterMs: 0, handles: toHandle(video) };
}

function post({ api, publication, signal }: FacebookContext, body: RequestBody) {
  const call = { method: "POST", path: pagePath(publication, "videos"), body } as const;
  return callGraph(api, publication, call, signal);
}

/** `start_offset` and `end_offset` of an answer or of its error's data. */
function offsetsIn(source: unknown): Pick<Video, "start" | "end"> | undefined {
  const [start, end] = [text(source, "start_offset"), text(source, "end_offset")];
  if (start === undefined || end === undefined) return undefined;
  const offsets = { start: Number(start), end: Number(end) };
  return Number.isSafeInteger(offsets.start) && Number.isSafeInteger(offsets.end)
    ? offsets
    : undefined;
}

async function begin(context: FacebookContext, restarts: number): Promise<StepResult> {
  const { bytes } = filmOf(context.publication);
  const body = formBody({ upload_phase: "start", file_size: String(bytes) });
  const answer = await post(context, body);
  const id = idIn(answer, "video_id");
  const session = idIn(answer, "upload_session_id");
  const offsets = answer.kind === "answer" ? offsetsIn(answer.json) : undefined;
  if (id === undefined || session === undefined || offsets === undefined)
    return toStepFailure(answer, MEANINGS);
  return next({ id, session, ...offsets, stage: "sending", waitingSince: 0, restarts });
}

/** Facebook does not know the upload any more, or does not go on with it: once it is begun anew. */
function restart(video: Video, answer: PlatformAnswer | NoAnswer): StepResult {
  const code = answer.kind === "answer" ? readGraphError(answer)?.code : undefined;
  const isLost = code === 6000 || code === 6001;
  return isLost && video.restarts < MAX_RESTARTS
    ? next({ ...video, stage: "lost", restarts: video.restarts + 1 })
    : toStepFailure(answer, MEANINGS);
}

async function sendChunk(context: FacebookContext, video: Video): Promise<StepResult> {
  const film = filmOf(context.publication);
  const { session, start, end } = video;
  const length = Math.min(end, film.bytes, start + MAX_CHUNK_BYTES) - start;
  const { fileName } = film;
  const source = mediaBytes(film, { start, length });
  const parts: readonly FormPart[] = [
    { name: "upload_phase", value: "transfer" },
    { name: "upload_session_id", value: session },
    { name: "start_offset", value: String(start) },
    { name: "video_file_chunk", fileName, contentType: "application/octet-stream", source },
  ];
  const answer = await post(context, multipartBody(parts));
  if (answer.kind === "no_answer") return toStepFailure(answer, MEANINGS);
  const offsets = answer.status === 200 ? offsetsIn(answer.json) : toCorrection(answer);
  return offsets === undefined ? restart(video, answer) : next({ ...video, ...offsets });
}

/** Where to go on when an earlier chunk arrived and its answer did not. */
function toCorrection(answer: PlatformAnswer): Pick<Video, "start" | "end"> | undefined {
  return readGraphError(answer)?.subcode === OUT_OF_STEP
    ? offsetsIn(object(object(answer.json, "error"), "error_data"))
    : undefined;
}

/** Ends the upload; the video stays unpublished. */
async function finish(context: FacebookContext, video: Video): Promise<StepResult> {
  const { text: description, title } = context.publication;
  const body = formBody({
    upload_phase: "finish",
    upload_session_id: video.session,
    published: "false",
    ...(description === "" ? {} : { description }),
    ...(title === undefined || title === "" ? {} : { title }),
  });
  const answer = await post(context, body);
  const isDone = answer.kind === "answer" && answer.json?.success === true;
  return isDone
    ? next({ ...video, stage: "processing", waitingSince: Date.now() })
    : restart(video, answer);
}

async function look(context: FacebookContext, video: Video): Promise<StepResult> {
  const { api, publication, signal } = context;
  const status = await readVideo(api, publication, video.id, signal);
  if ("kind" in status) return status;
  if (status.processing === "error") return toRejected(status);
  return status.processing === "complete"
    ? toHandle({ ...video, stage: "ready" })
    : nextCheck(video, toHandle(video));
}

async function run(context: FacebookContext, video: Video | undefined): Promise<StepResult> {
  if (video === undefined || video.stage === "lost")
    return await begin(context, video?.restarts ?? 0);
  if (video.stage === "processing") return await look(context, video);
  return await (video.start < video.end ? sendChunk(context, video) : finish(context, video));
}

/** Uploads the film in chunks and waits until it is processed; nobody sees it. Each answer is stored before the next call. */
export function createVideoStep(api: GraphApi): PrepareStep {
  return {
    name: "video",
    isDone: (handles) => videoId(handles) !== undefined,
    run: (publication, handles, signal) => run({ api, publication, signal }, readState(handles)),
  };
}
