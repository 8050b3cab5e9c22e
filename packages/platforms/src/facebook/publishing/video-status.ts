import { toStepFailure } from "#src/graph-api/failures.ts";
import type { NoAnswer } from "#src/http/call-platform.ts";
import { list, object, type PlatformAnswer, shorten, text } from "#src/http/platform-answer.ts";
import { ask, type Caller } from "#src/publishing/caller.ts";
import type { Failure } from "#src/publishing/outcome.ts";
import { MEANINGS } from "./error-meanings.ts";

export interface VideoStatus {
  readonly bytes: number;
  readonly isUploaded: boolean;
  readonly processing: "not_started" | "in_progress" | "complete" | "error";
  readonly problem: string;
  readonly publishing: "not_started" | "in_progress" | "complete";
  readonly isPublished: boolean;
  /** The video's own flag; absent when Facebook does not show it. */
  readonly flag: boolean | undefined;
  /** It may be a path only. */
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
    flag: typeof json?.published === "boolean" ? json.published : undefined,
    permalink: text(json, "permalink_url"),
  };
}

/** The answer itself when it contains no status. */
export async function askVideo(
  graph: Caller,
  id: string,
): Promise<{ readonly status: VideoStatus } | { readonly answer: PlatformAnswer | NoAnswer }> {
  const query = { fields: "status,published,permalink_url" };
  const answer = await ask(graph, { path: encodeURIComponent(id), query });
  const status = answer.kind === "answer" && answer.status === 200 ? toStatus(answer) : undefined;
  return status === undefined ? { answer } : { status };
}

export async function readVideo(graph: Caller, id: string): Promise<VideoStatus | Failure> {
  const asked = await askVideo(graph, id);
  return "status" in asked ? asked.status : toStepFailure(asked.answer, MEANINGS);
}
