import {
  type GraphMeaning,
  type GraphMeanings,
  readGraphError,
  toStepFailure,
} from "#src/graph-api/failures.ts";
import type { NoAnswer } from "#src/http/call-platform.ts";
import type { PlatformAnswer } from "#src/http/platform-answer.ts";
import { type Failure, limitReached } from "#src/publishing/outcome.ts";

export const MEANINGS: GraphMeanings = {
  // Too large, wrong format, wrong aspect ratio, unreadable video.
  36000: "media_rejected",
  36001: "media_rejected",
  36003: "media_rejected",
  352: "media_rejected",
  2207004: "media_rejected",
  2207005: "media_rejected",
  2207009: "media_rejected",
  2207026: "media_rejected",
  // Caption, tags, number of parts, thumbnail offset, trial reel.
  36004: "content_rejected",
  2207010: "content_rejected",
  2207023: "content_rejected",
  2207028: "content_rejected",
  2207040: "content_rejected",
  2207057: "content_rejected",
  2207073: "content_rejected",
  2207081: "content_rejected",
  9004: "media_fetch_failed",
  2207003: "media_fetch_failed",
  2207052: "media_fetch_failed",
  2207077: "media_fetch_failed",
  // Restricted as spam, restricted or inactive.
  "4/2207051": "account_action_needed",
  25: "account_action_needed",
  2207050: "account_action_needed",
  9007: "transient",
  [-1]: "transient",
  [-2]: "transient",
  2207001: "transient",
  2207020: "transient",
  2207032: "transient",
  2207053: "transient",
  2207082: "transient",
  2207085: "transient",
  24: "missing",
};

const DAILY_LIMIT = 2_207_042;
const QUOTA_WAIT_MS = 15 * 60_000;

export function toQuotaFailure(message: string): Failure {
  return limitReached("platform_quota", message, QUOTA_WAIT_MS);
}

export function findQuotaFailure(answer: PlatformAnswer): Failure | undefined {
  const error = readGraphError(answer);
  return error?.subcode === DAILY_LIMIT ? toQuotaFailure(error.message) : undefined;
}

/** A file that Instagram could not fetch may be fetched on a later attempt. */
export function toInstagramFailure(answer: PlatformAnswer | NoAnswer): Failure {
  const quota = answer.kind === "answer" ? findQuotaFailure(answer) : undefined;
  if (quota !== undefined) return quota;
  const failure = toStepFailure(answer, MEANINGS);
  return failure.kind === "refused" && failure.code === "media_fetch_failed"
    ? { ...failure, kind: "retryable" }
    : failure;
}

export function meaningOfStatus(status: string): GraphMeaning {
  const subcode = /\b2207\d{3}\b/.exec(status)?.[0] ?? "";
  return MEANINGS[subcode] ?? "transient";
}
