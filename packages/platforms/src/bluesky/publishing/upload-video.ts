import type { NoAnswer } from "#src/http/http.ts";
import { shorten, text, type PlatformAnswer } from "#src/http/platform-answer.ts";
import type {
  Failure,
  Handles,
  PrepareStep,
  StepResult,
  StepWait,
} from "#src/publishing/connector.ts";
import { isFresh, toBlobHandle } from "./blob-state.ts";
import {
  askJob,
  askServiceToken,
  readJob,
  sendVideo,
  type BlueskyUrls,
  type Job,
  type VideoContext,
} from "./video-calls.ts";
import { toUploadFailure } from "./xrpc.ts";

/** How far the video service is with the film; stored as a handle after each of its answers. */
interface Upload {
  readonly jobId: string;
  /** `lost` = it has to begin again. */
  readonly stage: "processing" | "ready" | "lost";
  /** When the service had the whole film, Unix milliseconds. */
  readonly startedAt: number;
  /** How often it began again because the service had lost or spoiled it. */
  readonly restarts: number;
}

interface Place extends VideoContext {
  readonly index: number;
}

/** How long the service may work on a film before a try gives up; the next one asks again. */
const PATIENCE_MS = 30 * 60_000;
const MIN_CHECK_MS = 1000;
const MAX_CHECK_MS = 30_000;
const MAX_RESTARTS = 1;
/** The service failed, not the film. */
const MAY_PASS = new Set(["pds_upload_failure", "generic_failure"]);

function read({ video }: Handles): Upload | undefined {
  return video === undefined ? undefined : (JSON.parse(video) as Upload);
}

function toHandle(upload: Upload): Handles {
  return { video: JSON.stringify(upload) };
}

/** The account's own token is not what the service was shown, so its refusal says nothing about that one. */
function toServiceFailure(answer: PlatformAnswer | NoAnswer): Failure {
  const failure = toUploadFailure(answer);
  const message = failure.message;
  const name = answer.kind === "answer" ? (text(answer.json, "error") ?? "") : "";
  if (name === "DailyLimitExceeded") return { kind: "retryable", code: "platform_quota", message };
  if (name === "UploadForbidden" || /unconfirmed.?email/i.test(`${name} ${message}`))
    return { kind: "refused", code: "account_action_needed", message };
  return failure.kind === "token_refused"
    ? { kind: "retryable", code: "platform_unavailable", message }
    : failure;
}

async function begin(place: Place, restarts: number): Promise<StepResult> {
  const asked = await askServiceToken(place);
  const token = asked.kind === "answer" ? text(asked.json, "token") : undefined;
  if (token === undefined) return toUploadFailure(asked);
  const answer = await sendVideo(place, token);
  const job = readJob(answer);
  if (job === undefined) return toServiceFailure(answer);
  const upload = { jobId: job.id, startedAt: Date.now(), restarts };
  return follow(place, { ...upload, stage: "processing" }, job);
}

async function look(place: Place, upload: Upload): Promise<StepResult> {
  const answer = await askJob(place, upload.jobId);
  const job = readJob(answer);
  if (job !== undefined) return follow(place, upload, job);
  const isLost = answer.kind === "answer" && [400, 404, 410].includes(answer.status);
  const failure = toServiceFailure(answer);
  return isLost ? restart(upload, failure.message) : failure;
}

function follow({ index }: Place, upload: Upload, job: Job): StepResult {
  if (job.blob !== undefined)
    return {
      ...toHandle({ ...upload, stage: "ready" }),
      ...toBlobHandle(index, job.blob, Date.now()),
    };
  if (job.state !== "JOB_STATE_FAILED") return toPatience(upload);
  const message = shorten(job.message);
  if (MAY_PASS.has(job.failureCode)) return restart(upload, message);
  return { kind: "refused", code: "media_rejected", message };
}

/** Begins once more what the service has lost or spoiled; when it does so again, it is the film. */
function restart(upload: Upload, message: string): StepWait | Failure {
  if (upload.restarts >= MAX_RESTARTS) return { kind: "refused", code: "media_rejected", message };
  const handles = toHandle({ ...upload, stage: "lost", restarts: upload.restarts + 1 });
  return { kind: "wait", afterMs: 0, handles };
}

/** Asks the less often the longer it takes: the service does not say when to ask again. */
function toPatience(upload: Upload): StepResult {
  const passedMs = Date.now() - upload.startedAt;
  if (passedMs > PATIENCE_MS)
    return {
      kind: "retryable",
      code: "platform_unavailable",
      message: "the film is still being processed",
    };
  const afterMs = Math.min(Math.max(Math.round(passedMs / 4), MIN_CHECK_MS), MAX_CHECK_MS);
  return { kind: "wait", afterMs, handles: toHandle(upload) };
}

/**
 * Gives the post's film to the network's video service (platforms reference 7.1), which puts it into the repository. The
 * job is stored before it is asked about, so that a crash repeats one call at most.
 */
export function createVideoStep(urls: BlueskyUrls, index: number): PrepareStep {
  return {
    name: `upload ${index + 1}`,
    isDone: (handles) => isFresh(handles, index, Date.now()),
    run: async (publication, handles, signal) => {
      const media = publication.media[index];
      if (media === undefined) throw new Error("the post has no such media");
      const place = { ...urls, account: publication, media, signal, index };
      const upload = read(handles);
      return upload?.stage === "processing"
        ? await look(place, upload)
        : await begin(place, upload?.restarts ?? 0);
    },
  };
}
