import type { NoAnswer } from "#src/http/call-platform.ts";
import { object, type PlatformAnswer, shorten, text } from "#src/http/platform-answer.ts";
import {
  type Failure,
  limitReached,
  platformUnavailable,
  refused,
  type TargetErrorCode,
} from "#src/publishing/outcome.ts";
import { codeOf } from "./calls.ts";

/** TikTok does not say how long to wait. */
const RATE_WAIT_MS = 60_000;
/**
 * TikTok counts the posts of the last 24 hours, and does not say when the oldest of them stops
 * counting.
 */
const DAILY_WAIT_MS = 3_600_000;

/**
 * TikTok does not say when the first user stops counting. Users who have posted today may go on, so
 * the wait is one of the account.
 */
const USER_CAP_WAIT_MS = 2 * 3_600_000;

const REFUSALS: Readonly<Record<string, TargetErrorCode>> = {
  scope_not_authorized: "permission_missing",
  scope_permission_missed: "permission_missing",
  spam_risk_user_banned_from_posting: "account_action_needed",
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
  reached_active_user_cap: ["platform_quota", USER_CAP_WAIT_MS],
};

/** They do not show whether TikTok carried out the call. */
const AMBIGUOUS = new Set([408, 409, 425, 429]);

function describe(answer: PlatformAnswer, code: string): string {
  const message = text(object(answer.json, "error"), "message") ?? "";
  return shorten(message === "" ? code : `${code}: ${message}`);
}

/**
 * TikTok's own rate limiter sends an error code and refuses the call before it takes effect. A 429
 * without this code comes from a proxy, so the outcome is not known.
 */
export function toFailure(answer: PlatformAnswer): Failure | undefined {
  const code = codeOf(answer);
  if (code === undefined || code === "ok") return undefined;
  const message = describe(answer, code);
  if (code === "access_token_invalid") return { kind: "token_refused", message };
  const limit = LIMITS[code];
  if (limit !== undefined) {
    const [limitCode, retryAfterMs] = limit;
    return limitReached(limitCode, message, retryAfterMs);
  }
  const refusal = REFUSALS[code];
  if (refusal !== undefined) return refused(refusal, message);
  const { status } = answer;
  if (status === 401) return { kind: "token_refused", message };
  const isDefinite = status >= 400 && status < 500 && !AMBIGUOUS.has(status);
  return isDefinite ? refused("content_rejected", message) : undefined;
}

/** A step makes nothing visible, so it is retried after an unclear answer. */
export function toStepFailure(answer: PlatformAnswer | NoAnswer): Failure {
  if (answer.kind === "no_answer") return platformUnavailable(answer.message);
  return toFailure(answer) ?? platformUnavailable(`HTTP ${answer.status}`);
}

export interface Ending {
  readonly code: TargetErrorCode;
  /** Whether TikTok may accept the same content when it is sent again. */
  readonly isTemporary: boolean;
  /** Wait in milliseconds before the content is sent again, if a limit of TikTok was the reason. */
  readonly limitMs?: number;
}

/**
 * Converts TikTok's `fail_reason` to the reason and to whether it is temporary. With any
 * `fail_reason`, the post is certainly not published.
 */
export function toEnding(reason: string): Ending {
  if (reason.endsWith("_check_failed")) return { code: "media_rejected", isTemporary: false };
  switch (reason) {
    case "video_pull_failed":
    case "photo_pull_failed":
      return { code: "media_fetch_failed", isTemporary: true };
    case "internal":
      return { code: "platform_unavailable", isTemporary: true };
    case "auth_removed":
      return { code: "account_reconnect_required", isTemporary: false };
    case "publish_cancelled":
    case "spam_risk_user_banned_from_posting":
      return { code: "account_action_needed", isTemporary: false };
    case "spam_risk_too_many_posts":
      return { code: "platform_quota", isTemporary: true, limitMs: DAILY_WAIT_MS };
    default:
      return { code: "content_rejected", isTemporary: false };
  }
}
