import type { NoAnswer } from "#src/http/http.ts";
import { object, shorten, text, type PlatformAnswer } from "#src/http/platform-answer.ts";
import type { Failure, TargetErrorCode } from "#src/publishing/connector.ts";
import { codeOf } from "./calls.ts";

/** TikTok names no time with its limits (platforms reference 4.7). */
const RATE_WAIT_MS = 60_000;
/** The day's posts are counted over the last 24 hours; which of them falls out when is not known. */
const DAILY_WAIT_MS = 3_600_000;

const REFUSALS: Readonly<Record<string, TargetErrorCode>> = {
  scope_not_authorized: "permission_missing",
  scope_permission_missed: "permission_missing",
  spam_risk_user_banned_from_posting: "account_action_needed",
  reached_active_user_cap: "app_configuration",
  unaudited_client_can_only_post_to_private_accounts: "app_configuration",
  url_ownership_unverified: "app_configuration",
  privacy_level_option_mismatch: "content_rejected",
  spam_risk: "content_rejected",
  spam_risk_text: "content_rejected",
  invalid_param: "content_rejected",
  invalid_params: "content_rejected",
};

const LIMITS: Readonly<Record<string, readonly [TargetErrorCode, number]>> = {
  rate_limit_exceeded: ["rate_limited", RATE_WAIT_MS],
  spam_risk_too_many_posts: ["platform_quota", DAILY_WAIT_MS],
  spam_risk_too_many_pending_share: ["platform_quota", DAILY_WAIT_MS],
};

/** Statuses that do not say that nothing was done (platforms reference 0.2). */
const UNDECIDED = new Set([408, 409, 425, 429]);

function describe(answer: PlatformAnswer, code: string): string {
  const message = text(object(answer.json, "error"), "message") ?? "";
  return shorten(message === "" ? code : `${code}: ${message}`);
}

/**
 * What an error of the API means; undefined when it says nothing definite. TikTok's own limiter names itself and refuses
 * before anything is done; a 429 without its name is a proxy's and says nothing.
 */
export function toFailure(answer: PlatformAnswer): Failure | undefined {
  const code = codeOf(answer);
  if (code === undefined || code === "ok") return undefined;
  const message = describe(answer, code);
  if (code === "access_token_invalid") return { kind: "token_refused", message };
  const limit = LIMITS[code];
  if (limit !== undefined) {
    const [limitCode, retryAfterMs] = limit;
    return { kind: "retryable", code: limitCode, message, retryAfterMs, isLimit: true };
  }
  const refusal = REFUSALS[code];
  if (refusal !== undefined) return { kind: "refused", code: refusal, message };
  const { status } = answer;
  const isDefinite = status >= 400 && status < 500 && !UNDECIDED.has(status);
  return isDefinite ? { kind: "refused", code: "content_rejected", message } : undefined;
}

/** Of a call that makes nothing visible: what is not definite may be tried again. */
export function toStepFailure(answer: PlatformAnswer | NoAnswer): Failure {
  if (answer.kind === "no_answer")
    return { kind: "retryable", code: "platform_unavailable", message: answer.message };
  const message = `HTTP ${answer.status}`;
  return toFailure(answer) ?? { kind: "retryable", code: "platform_unavailable", message };
}

/** How a publication ended that TikTok gave up. */
export interface Ending {
  readonly code: TargetErrorCode;
  /** The same content may well be taken when it is sent anew. */
  readonly isPassing: boolean;
}

/** What a `fail_reason` means; all of them are definite. */
export function toEnding(reason: string): Ending {
  if (reason.endsWith("_check_failed")) return { code: "media_rejected", isPassing: false };
  switch (reason) {
    case "video_pull_failed":
    case "photo_pull_failed":
      return { code: "media_fetch_failed", isPassing: true };
    case "internal":
      return { code: "platform_unavailable", isPassing: true };
    case "auth_removed":
      return { code: "account_reconnect_required", isPassing: false };
    case "publish_cancelled":
    case "spam_risk_user_banned_from_posting":
      return { code: "account_action_needed", isPassing: false };
    case "spam_risk_too_many_posts":
      return { code: "platform_quota", isPassing: false };
    default:
      return { code: "content_rejected", isPassing: false };
  }
}
