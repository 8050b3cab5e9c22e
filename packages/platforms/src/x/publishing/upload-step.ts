import type { NoAnswer } from "#src/http/http.ts";
import { object, shorten, text, type PlatformAnswer } from "#src/http/platform-answer.ts";
import type { Failure, PrepareStep, StepResult, StepWait } from "#src/publishing/connector.ts";
import { toUploadFailure } from "./failures.ts";
import {
  append,
  categoryOf,
  finalize,
  initialize,
  readStatus,
  SEGMENT_BYTES,
  sendImage,
  type UploadContext,
} from "./upload-calls.ts";
import { isAlive, readUpload, toHandle, type Upload } from "./upload-state.ts";

/** How long X may work on a video before a try gives up; the next one asks again. */
const PATIENCE_MS = 30 * 60_000;
const MIN_CHECK_MS = 1000;
const MAX_CHECK_MS = 60_000;
const MAX_RESTARTS = 1;

interface Place extends UploadContext {
  readonly index: number;
}

type Data = Readonly<Record<string, unknown>>;

/** What X answered, or what its answer or silence means for the step. */
function toData(answer: PlatformAnswer | NoAnswer): { readonly data: Data } | Failure {
  const data = answer.kind === "answer" ? object(answer.json, "data") : undefined;
  const isDone = answer.kind === "answer" && answer.status >= 200 && answer.status < 300;
  return isDone && data !== undefined ? { data } : toFailure(answer);
}

function toFailure(answer: PlatformAnswer | NoAnswer): Failure {
  return answer.kind === "answer"
    ? toUploadFailure(answer)
    : { kind: "retryable", code: "platform_unavailable", message: answer.message };
}

/** X does not know the media id any more, or will not take it so: both are a 400 to X. */
function findLoss(answer: PlatformAnswer | NoAnswer): PlatformAnswer | undefined {
  return answer.kind === "answer" && [400, 404, 410].includes(answer.status) ? answer : undefined;
}

/** Stored, and the step goes on at once. */
function next(index: number, upload: Upload, afterMs = 0): StepWait {
  return { kind: "wait", afterMs, handles: toHandle(index, upload) };
}

/** Begins once more what X has lost; when it loses it again, it is the media. */
function restart(index: number, upload: Upload, answer: PlatformAnswer): StepWait | Failure {
  if (upload.restarts >= MAX_RESTARTS)
    return { kind: "refused", code: "media_rejected", message: toUploadFailure(answer).message };
  return next(index, { ...upload, stage: "lost", restarts: upload.restarts + 1 });
}

function expiryOf(data: Data, otherwise: number): number {
  const seconds = data.expires_after_secs;
  return typeof seconds === "number" ? Date.now() + seconds * 1000 : otherwise;
}

async function begin(place: Place, restarts: number): Promise<StepResult> {
  const isImage = categoryOf(place.media) === "tweet_image";
  const answer = toData(await (isImage ? sendImage(place) : initialize(place)));
  if (!("data" in answer)) return answer;
  const id = text(answer.data, "id");
  const key = text(answer.data, "media_key");
  if (id === undefined || key === undefined)
    return { kind: "retryable", code: "platform_unavailable", message: "no media id came" };
  const expiresAt = expiryOf(answer.data, Date.now() + 3_600_000);
  const upload = { id, key, expiresAt, sent: 0, patientUntil: 0, restarts } as const;
  return isImage
    ? toHandle(place.index, { ...upload, stage: "ready" })
    : next(place.index, { ...upload, stage: "appending" });
}

async function goOnAppending(place: Place, upload: Upload): Promise<StepResult> {
  const answer = await append(place, upload.id, upload.sent);
  const loss = findLoss(answer);
  if (loss !== undefined) return restart(place.index, upload, loss);
  // The body says nothing that is needed, and what is missing shows at the end.
  if (answer.kind === "answer" && answer.status >= 200 && answer.status < 300)
    return next(place.index, { ...upload, sent: upload.sent + 1 });
  return toFailure(answer);
}

async function finish(place: Place, before: Upload): Promise<StepResult> {
  const upload = { ...before, patientUntil: Date.now() + PATIENCE_MS };
  const answer = await finalize(place, upload.id);
  // It may have been completed already by a call whose answer was lost.
  const isKnown = findLoss(answer) === undefined;
  return isKnown ? follow(place, upload, answer) : await look(place, upload);
}

async function look(place: Place, upload: Upload): Promise<StepResult> {
  const answer = await readStatus(place, upload.id);
  const loss = findLoss(answer);
  return loss === undefined ? follow(place, upload, answer) : restart(place.index, upload, loss);
}

/** Reads how far X is with what it has completely. */
function follow({ index }: Place, before: Upload, answer: PlatformAnswer | NoAnswer): StepResult {
  const read = toData(answer);
  if (!("data" in read)) return read;
  const upload = { ...before, expiresAt: expiryOf(read.data, before.expiresAt) };
  const processing = object(read.data, "processing_info");
  const state = processing === undefined ? "succeeded" : text(processing, "state");
  if (state === "succeeded") return toHandle(index, { ...upload, stage: "ready" });
  if (state === "failed") return toRejected(object(processing, "error"));
  return toPatience(index, upload, Number(processing?.check_after_secs));
}

function toRejected(error: Data | undefined): Failure {
  const message = shorten(text(error, "message") ?? text(error, "name") ?? "processing failed");
  return { kind: "refused", code: "media_rejected", message };
}

function toPatience(index: number, upload: Upload, checkAfterSeconds: number): StepResult {
  if (Date.now() > upload.patientUntil)
    return {
      kind: "retryable",
      code: "platform_unavailable",
      message: "the media is still being processed",
    };
  const checkMs = checkAfterSeconds > 0 ? checkAfterSeconds * 1000 : MIN_CHECK_MS;
  const afterMs = Math.min(Math.max(checkMs, MIN_CHECK_MS), MAX_CHECK_MS);
  return next(index, { ...upload, stage: "processing" }, afterMs);
}

async function run(place: Place, upload: Upload | undefined): Promise<StepResult> {
  if (upload === undefined || !isAlive(upload, Date.now()))
    return await begin(place, upload?.restarts ?? 0);
  if (upload.stage === "processing") return await look(place, upload);
  const isWhole = upload.sent * SEGMENT_BYTES >= place.media.bytes;
  return await (isWhole ? finish(place, upload) : goOnAppending(place, upload));
}

/**
 * Uploads one file of the post. Each answer of X is stored before the next call, so that a crash repeats one call at
 * most; an upload that has become too old begins again.
 */
export function createUploadStep(baseUrl: string, index: number): PrepareStep {
  return {
    name: `upload ${index + 1}`,
    isDone: (handles) => {
      const upload = readUpload(handles, index);
      return upload?.stage === "ready" && isAlive(upload, Date.now());
    },
    run: async (publication, handles, signal) => {
      const media = publication.media[index];
      if (media === undefined) throw new Error("the post has no such media");
      const place = { baseUrl, account: publication, media, signal, index };
      return await run(place, readUpload(handles, index));
    },
  };
}
