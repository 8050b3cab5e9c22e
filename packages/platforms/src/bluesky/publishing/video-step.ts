import type { NoAnswer } from "#src/http/call-platform.ts";
import { type PlatformAnswer, shorten, text } from "#src/http/platform-answer.ts";
import { jsonHandle } from "#src/publishing/handles.ts";
import { waitForProcessing } from "#src/publishing/look-schedule.ts";
import {
  type Failure,
  limitReached,
  platformUnavailable,
  refused,
} from "#src/publishing/outcome.ts";
import { fileAt } from "#src/publishing/publication.ts";
import {
  type PrepareStep,
  runAgain,
  type StepResult,
  type StepWait,
} from "#src/publishing/steps.ts";
import { toUploadFailure } from "./failures.ts";
import {
  askJob,
  askServiceToken,
  type BlueskyUrls,
  isFresh,
  type Job,
  readJob,
  sendVideo,
  toBlobHandle,
  type VideoContext,
} from "./video-calls.ts";

interface Upload {
  readonly jobId: string;
  /** `lost` = the upload must start again. */
  readonly stage: "processing" | "ready" | "lost";
  readonly startedAt: number;
  readonly restarts: number;
}

interface VideoUpload extends VideoContext {
  readonly index: number;
}

const MAX_RESTARTS = 1;
/** The service does not say when the oldest video stops counting. */
const DAILY_LIMIT_WAIT_MS = 3_600_000;
/** The service could not write the processed video to the server of the account. */
const SERVER_FAILURE = "pds_upload_failure";
/** The service often fails without a code, too, with a video that it takes the next time. */
const TEMPORARY_FAILURES = new Set([SERVER_FAILURE, "generic_failure", ""]);

const UPLOAD = jsonHandle<Upload>("video");

/**
 * The call used a token for the video service, so a refused token does not mean that the account's
 * own token is invalid.
 */
function toServiceFailure(answer: PlatformAnswer | NoAnswer): Failure {
  const failure = toUploadFailure(answer);
  const message = failure.message;
  const name = answer.kind === "answer" ? (text(answer.json, "error") ?? "") : "";
  if (name === "DailyLimitExceeded")
    return limitReached("platform_quota", message, DAILY_LIMIT_WAIT_MS);
  if (name === "UploadForbidden" || /unconfirmed.?email/i.test(`${name} ${message}`))
    return refused("account_action_needed", message);
  return failure.kind === "token_refused" ? platformUnavailable(message) : failure;
}

async function start(context: VideoUpload, restarts: number): Promise<StepResult> {
  const asked = await askServiceToken(context);
  const token = asked.kind === "answer" ? text(asked.json, "token") : undefined;
  if (token === undefined) return toUploadFailure(asked);
  const answer = await sendVideo(context, token);
  const job = readJob(answer);
  if (job === undefined) return toServiceFailure(answer);
  const upload = { jobId: job.id, startedAt: Date.now(), restarts };
  return follow(context, { ...upload, stage: "processing" }, job);
}

async function look(context: VideoUpload, upload: Upload): Promise<StepResult> {
  const answer = await askJob(context, upload.jobId);
  const job = readJob(answer);
  if (job !== undefined) return follow(context, upload, job);
  const isLost = answer.kind === "answer" && [400, 404, 410].includes(answer.status);
  const failure = toServiceFailure(answer);
  return isLost ? restart(upload, platformUnavailable(failure.message)) : failure;
}

function follow({ index }: VideoUpload, upload: Upload, job: Job): StepResult {
  if (job.blob !== undefined)
    return {
      ...UPLOAD.write({ ...upload, stage: "ready" }),
      ...toBlobHandle(index, job.blob, Date.now()),
    };
  if (job.state !== "JOB_STATE_FAILED")
    return waitForProcessing(upload.startedAt, UPLOAD.write(upload));
  const message = shorten(job.message);
  const failure =
    job.failureCode === SERVER_FAILURE
      ? platformUnavailable(message)
      : refused("media_rejected", message);
  return TEMPORARY_FAILURES.has(job.failureCode) ? restart(upload, failure) : failure;
}

type FinalFailure = Extract<Failure, { kind: "refused" | "retryable" }>;

/** The next attempt, if any, begins with a new upload. */
function restart(upload: Upload, failure: FinalFailure): StepWait | Failure {
  if (upload.restarts < MAX_RESTARTS)
    return runAgain(UPLOAD.write({ ...upload, stage: "lost", restarts: upload.restarts + 1 }));
  const handles = UPLOAD.write({ ...upload, stage: "lost", restarts: 0 });
  return failure.kind === "refused" ? failure : { ...failure, handles };
}

/**
 * The id of the processing job is stored before the job's state is read, so that a crash repeats at
 * most one call.
 */
export function createVideoStep(urls: BlueskyUrls, index: number): PrepareStep {
  return {
    name: `upload ${index + 1}`,
    isDone: (handles) => isFresh(handles, index, Date.now()),
    run: async (publication, handles, signal) => {
      const media = fileAt(publication, index);
      const context = { ...urls, account: publication, media, signal, index };
      const upload = UPLOAD.read(handles);
      return upload?.stage === "processing"
        ? await look(context, upload)
        : await start(context, upload?.restarts ?? 0);
    },
  };
}
