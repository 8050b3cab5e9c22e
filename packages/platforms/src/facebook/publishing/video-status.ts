import { toStepFailure } from "#src/graph/failures.ts";
import type { GraphApi } from "#src/graph/graph-call.ts";
import type { NoAnswer } from "#src/http/http.ts";
import { list, object, shorten, text, type PlatformAnswer } from "#src/http/platform-answer.ts";
import type { AccountAccess, Failure } from "#src/publishing/connector.ts";
import { callGraph, unavailable } from "./context.ts";
import { MEANINGS } from "./meanings.ts";

/** How far Facebook is with a video (platforms reference 3.1). */
export interface VideoStatus {
  /** Bytes that it has. */
  readonly bytes: number;
  readonly isUploaded: boolean;
  readonly processing: "not_started" | "in_progress" | "complete" | "error";
  /** Why processing failed. */
  readonly problem: string;
  /** A reel's: `complete` = readers see it. */
  readonly publishing: "not_started" | "in_progress" | "complete";
  /** Whether readers see the video. */
  readonly isPublished: boolean;
  /** As the platform has it; it may be a path. */
  readonly permalink: string | undefined;
}

const READY = "ready";
const ERROR = "error";

function processingOf(status: unknown): VideoStatus["processing"] {
  const whole = text(status, "video_status");
  const phase = text(object(status, "processing_phase"), "status");
  if (whole === ERROR || phase === ERROR) return ERROR;
  if (whole === READY || phase === "complete") return "complete";
  return phase === "not_started" ? "not_started" : "in_progress";
}

function problemOf(status: unknown): string {
  const phase = object(status, "processing_phase");
  const [first] = list(phase, "errors");
  const error = object(phase, "error") ?? first;
  return shorten(text(error, "message") ?? "the video could not be processed");
}

function publishingOf(status: unknown): VideoStatus["publishing"] {
  const phase = object(status, "publishing_phase");
  const state = text(phase, "status");
  if (state === "complete")
    return text(phase, "publish_status") === "published" ? "complete" : "not_started";
  return state === "in_progress" ? "in_progress" : "not_started";
}

/** Undefined when the answer does not say. */
function toStatus({ json }: PlatformAnswer): VideoStatus | undefined {
  const status = object(json, "status");
  if (status === undefined) return undefined;
  const uploading = object(status, "uploading_phase");
  const bytes = Number(uploading?.bytes_transfered ?? 0);
  return {
    bytes: Number.isSafeInteger(bytes) ? bytes : 0,
    isUploaded: text(uploading, "status") === "complete" || text(status, "video_status") === READY,
    processing: processingOf(status),
    problem: problemOf(status),
    publishing: publishingOf(status),
    isPublished: json?.published === true || publishingOf(status) === "complete",
    permalink: text(json, "permalink_url"),
  };
}

/** Asks for a video; the answer itself is there where nothing can be read from it. */
export async function askVideo(
  api: GraphApi,
  account: AccountAccess,
  id: string,
  signal: AbortSignal,
): Promise<{ readonly status: VideoStatus } | { readonly answer: PlatformAnswer | NoAnswer }> {
  const query = { fields: "status,published,permalink_url" };
  const call = { method: "GET", path: encodeURIComponent(id), query } as const;
  const answer = await callGraph(api, account, call, signal);
  const status = answer.kind === "answer" && answer.status === 200 ? toStatus(answer) : undefined;
  return status === undefined ? { answer } : { status };
}

/** As `askVideo`, for a step. */
export async function readVideo(
  api: GraphApi,
  account: AccountAccess,
  id: string,
  signal: AbortSignal,
): Promise<VideoStatus | Failure> {
  const asked = await askVideo(api, account, id, signal);
  if ("status" in asked) return asked.status;
  const { answer } = asked;
  return answer.kind === "no_answer"
    ? unavailable(answer.message)
    : toStepFailure(answer, MEANINGS);
}
