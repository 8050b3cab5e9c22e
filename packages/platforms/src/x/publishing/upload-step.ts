import type { NoAnswer } from "#src/http/call-platform.ts";
import { object, type PlatformAnswer, shorten, text } from "#src/http/platform-answer.ts";
import { MAX_PROCESSING_MS, STILL_PROCESSING } from "#src/publishing/look-schedule.ts";
import { type Failure, platformUnavailable, refused } from "#src/publishing/outcome.ts";
import { fileAt } from "#src/publishing/publication.ts";
import {
  type PrepareStep,
  runAgain,
  type StepResult,
  type StepWait,
} from "#src/publishing/steps.ts";
import { toUploadFailure } from "./failures.ts";
import {
  append,
  categoryOf,
  finalize,
  initialize,
  isAlive,
  readStatus,
  readUpload,
  SEGMENT_BYTES,
  sendImage,
  toHandle,
  type Upload,
  type UploadContext,
} from "./upload-calls.ts";

/** When X's answer does not state it. */
const DEFAULT_EXPIRY_MS = 3_600_000;
const MIN_CHECK_MS = 1000;
const MAX_CHECK_MS = 60_000;
const MAX_RESTARTS = 1;

interface FileUpload extends UploadContext {
  readonly index: number;
}

type Data = Readonly<Record<string, unknown>>;

function toData(answer: PlatformAnswer | NoAnswer): { readonly data: Data } | Failure {
  const data = answer.kind === "answer" ? object(answer.json, "data") : undefined;
  const isDone = answer.kind === "answer" && answer.status >= 200 && answer.status < 300;
  return isDone && data !== undefined ? { data } : toFailure(answer);
}

function toFailure(answer: PlatformAnswer | NoAnswer): Failure {
  return answer.kind === "answer" ? toUploadFailure(answer) : platformUnavailable(answer.message);
}

/** X reports an unknown and a refused media id with HTTP 400. */
function findLoss(answer: PlatformAnswer | NoAnswer): PlatformAnswer | undefined {
  return answer.kind === "answer" && [400, 404, 410].includes(answer.status) ? answer : undefined;
}

function next(index: number, upload: Upload, afterMs = 0): StepWait {
  return runAgain(toHandle(index, upload), afterMs);
}

/** X has lost the upload. If it loses it again, the file counts as faulty. */
function restart(index: number, upload: Upload, answer: PlatformAnswer): StepWait | Failure {
  if (upload.restarts >= MAX_RESTARTS)
    return refused("media_rejected", toUploadFailure(answer).message);
  return next(index, { ...upload, stage: "lost", restarts: upload.restarts + 1 });
}

function expiryOf(data: Data, otherwise: number): number {
  const seconds = data.expires_after_secs;
  return typeof seconds === "number" ? Date.now() + seconds * 1000 : otherwise;
}

async function begin(file: FileUpload, restarts: number): Promise<StepResult> {
  const isImage = categoryOf(file.media) === "tweet_image";
  const answer = toData(await (isImage ? sendImage(file) : initialize(file)));
  if (!("data" in answer)) return answer;
  const id = text(answer.data, "id");
  const key = text(answer.data, "media_key");
  if (id === undefined || key === undefined)
    return platformUnavailable("X answered without a media id");
  const expiresAt = expiryOf(answer.data, Date.now() + DEFAULT_EXPIRY_MS);
  const upload = { id, key, expiresAt, sent: 0, patientUntil: 0, restarts } as const;
  // It would be uploaded again without end.
  if (!isAlive({ ...upload, stage: "ready" }, Date.now()))
    return platformUnavailable("X keeps the media for too short a time");
  return isImage
    ? toHandle(file.index, { ...upload, stage: "ready" })
    : next(file.index, { ...upload, stage: "appending" });
}

async function goOnAppending(file: FileUpload, upload: Upload): Promise<StepResult> {
  const answer = await append(file, upload.id, upload.sent);
  const loss = findLoss(answer);
  if (loss !== undefined) return restart(file.index, upload, loss);
  // Only the status of X's answer matters here. The later `finalize` call reports missing segments.
  if (answer.kind === "answer" && answer.status >= 200 && answer.status < 300)
    return next(file.index, { ...upload, sent: upload.sent + 1 });
  return toFailure(answer);
}

async function finish(file: FileUpload, before: Upload): Promise<StepResult> {
  const upload = { ...before, patientUntil: Date.now() + MAX_PROCESSING_MS };
  const answer = await finalize(file, upload.id);
  // X may refuse `finalize` because an earlier call, whose answer was lost, has already completed
  // the upload. The status of the upload then decides.
  const isKnown = findLoss(answer) === undefined;
  return isKnown ? follow(file, upload, answer) : await look(file, upload);
}

async function look(file: FileUpload, upload: Upload): Promise<StepResult> {
  const answer = await readStatus(file, upload.id);
  const loss = findLoss(answer);
  return loss === undefined ? follow(file, upload, answer) : restart(file.index, upload, loss);
}

function follow(
  { index }: FileUpload,
  before: Upload,
  answer: PlatformAnswer | NoAnswer,
): StepResult {
  const read = toData(answer);
  if (!("data" in read)) return read;
  const upload = { ...before, expiresAt: expiryOf(read.data, before.expiresAt) };
  const processing = object(read.data, "processing_info");
  const state = processing === undefined ? "succeeded" : text(processing, "state");
  if (state === "succeeded") return toHandle(index, { ...upload, stage: "ready" });
  if (state === "failed") return toRejected(object(processing, "error"));
  return waitForX(index, upload, Number(processing?.check_after_secs));
}

function toRejected(error: Data | undefined): Failure {
  const message = text(error, "message") ?? text(error, "name") ?? "processing failed";
  return refused("media_rejected", shorten(message));
}

function waitForX(index: number, upload: Upload, checkAfterSeconds: number): StepResult {
  if (Date.now() > upload.patientUntil) return STILL_PROCESSING;
  const checkMs = checkAfterSeconds > 0 ? checkAfterSeconds * 1000 : MIN_CHECK_MS;
  const afterMs = Math.min(Math.max(checkMs, MIN_CHECK_MS), MAX_CHECK_MS);
  return next(index, { ...upload, stage: "processing" }, afterMs);
}

async function run(file: FileUpload, upload: Upload | undefined): Promise<StepResult> {
  if (upload === undefined || !isAlive(upload, Date.now()))
    return await begin(file, upload?.restarts ?? 0);
  if (upload.stage === "processing") return await look(file, upload);
  const isWhole = upload.sent * SEGMENT_BYTES >= file.media.bytes;
  return await (isWhole ? finish(file, upload) : goOnAppending(file, upload));
}

/**
 * Each answer is stored before the next call, so that a crash repeats at most one call. A file that
 * X would delete too soon for the post is uploaded again.
 */
export function createUploadStep(baseUrl: string, index: number): PrepareStep {
  return {
    name: `upload ${index + 1}`,
    isDone: (handles) => {
      const upload = readUpload(handles, index);
      return upload?.stage === "ready" && isAlive(upload, Date.now());
    },
    run: async (publication, handles, signal) => {
      const media = fileAt(publication, index);
      const file = { baseUrl, account: publication, media, signal, index };
      return await run(file, readUpload(handles, index));
    },
  };
}
