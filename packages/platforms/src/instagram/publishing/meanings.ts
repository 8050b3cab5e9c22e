import type { GraphMeaning, GraphMeanings } from "#src/graph/failures.ts";
import { toStepFailure } from "#src/graph/failures.ts";
import { readGraphError } from "#src/graph/graph-error.ts";
import type { NoAnswer } from "#src/http/http.ts";
import type { PlatformAnswer } from "#src/http/platform-answer.ts";
import type { Failure } from "#src/publishing/connector.ts";

/** Instagram's own errors (platforms reference 1.7), by code or subcode. */
export const MEANINGS: GraphMeanings = {
  // Of the media: too large, wrong format, wrong shape, a film that cannot be read.
  36000: "media_rejected",
  36001: "media_rejected",
  36003: "media_rejected",
  352: "media_rejected",
  2207004: "media_rejected",
  2207005: "media_rejected",
  2207009: "media_rejected",
  2207026: "media_rejected",
  // Of the content: caption, tags, number of parts, thumb offset, trial reel.
  36004: "content_rejected",
  2207010: "content_rejected",
  2207023: "content_rejected",
  2207028: "content_rejected",
  2207040: "content_rejected",
  2207057: "content_rejected",
  2207073: "content_rejected",
  2207081: "content_rejected",
  // Instagram could not get the file.
  9004: "media_fetch_failed",
  2207003: "media_fetch_failed",
  2207052: "media_fetch_failed",
  2207077: "media_fetch_failed",
  // Of the account: restricted as spam, restricted or inactive.
  "4/2207051": "account_action_needed",
  25: "account_action_needed",
  2207050: "account_action_needed",
  // Not ready yet, or a fault of Instagram's.
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
/** The window moves, so a place may become free at any time. */
const QUOTA_CHECK_MS = 15 * 60_000;

/** The account may not publish more at the moment. Waiting costs no attempt. */
export function toQuotaFailure(message: string): Failure {
  return {
    kind: "retryable",
    code: "platform_quota",
    message,
    retryAfterMs: QUOTA_CHECK_MS,
    isLimit: true,
  };
}

/** The daily limit as the platform's refusal; undefined when an answer is something else. */
export function findQuotaFailure(answer: PlatformAnswer): Failure | undefined {
  const error = readGraphError(answer);
  return error?.subcode === DAILY_LIMIT ? toQuotaFailure(error.message) : undefined;
}

/** What follows when a step was not done. A file that was not fetched may be fetched the next time. */
export function toInstagramFailure(answer: PlatformAnswer | NoAnswer): Failure {
  const quota = answer.kind === "answer" ? findQuotaFailure(answer) : undefined;
  if (quota !== undefined) return quota;
  const failure = toStepFailure(answer, MEANINGS);
  return failure.kind === "refused" && failure.code === "media_fetch_failed"
    ? { ...failure, kind: "retryable" }
    : failure;
}

/** What the error of a container means, by the number in its status. */
export function meaningOfStatus(status: string): GraphMeaning {
  const subcode = /\b2207\d{3}\b/.exec(status)?.[0] ?? "";
  return MEANINGS[subcode] ?? "transient";
}
