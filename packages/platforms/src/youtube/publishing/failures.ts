import {
  header,
  list,
  object,
  shorten,
  text,
  type PlatformAnswer,
} from "#src/http/platform-answer.ts";
import type { Failure, TargetErrorCode } from "#src/publishing/connector.ts";
import { msUntilPacificMidnight } from "./pacific-midnight.ts";

const HOUR_MS = 3_600_000;
/** A channel's cap is over some 24 hours and not published: it is asked again while the post may still go out. */
const CHANNEL_CAP_MS = 6 * HOUR_MS;
const RATE_MS = 60_000;
/** Counters are not exact to the second. */
const MARGIN_MS = 60_000;

const DAILY: ReadonlySet<string> = new Set(["quotaExceeded", "dailyLimitExceeded"]);
const RATES: ReadonlySet<string> = new Set([
  "rateLimitExceeded",
  "userRateLimitExceeded",
  "uploadRateLimitExceeded",
]);

/** Reasons that say more than their status. */
const REFUSALS: ReadonlyMap<string, TargetErrorCode> = new Map([
  ["youtubeSignupRequired", "account_action_needed"],
  ["authenticatedUserAccountClosed", "account_action_needed"],
  ["authenticatedUserAccountSuspended", "account_action_needed"],
  ["channelClosed", "account_action_needed"],
  ["channelSuspended", "account_action_needed"],
  ["accessNotConfigured", "app_configuration"],
  ["forbiddenPrivacySetting", "content_rejected"],
  ["forbiddenLicenseSetting", "content_rejected"],
  ["badContent", "media_rejected"],
]);

const BY_STATUS: ReadonlyMap<number, TargetErrorCode> = new Map([
  [400, "content_rejected"],
  [403, "permission_missing"],
  [413, "media_rejected"],
  [415, "media_rejected"],
]);

/** The reason that Google gives, a word of a fixed list. */
export function reasonOf(answer: PlatformAnswer): string {
  const [first] = list(object(answer.json, "error"), "errors");
  return text(first, "reason") ?? "";
}

function describe(answer: PlatformAnswer, reason: string): string {
  const message = text(object(answer.json, "error"), "message") ?? "";
  // Google's words hold links as HTML.
  return shorten(message.replaceAll(/<[^>]*>/g, "")) || reason || `HTTP ${answer.status}`;
}

/** How long a rate limit asks to wait; it names no time of its own unless by the general header. */
export function limitedForMs(answer: PlatformAnswer): number {
  const seconds = Number(header(answer, "retry-after"));
  return seconds > 0 ? seconds * 1000 : RATE_MS;
}

function toLimit(answer: PlatformAnswer, reason: string, message: string): Failure | undefined {
  const limit = { kind: "retryable", message, isLimit: true } as const;
  if (DAILY.has(reason)) {
    const retryAfterMs = msUntilPacificMidnight(new Date()) + MARGIN_MS;
    return { ...limit, code: "platform_quota", retryAfterMs };
  }
  if (reason === "uploadLimitExceeded")
    return { ...limit, code: "platform_quota", retryAfterMs: CHANNEL_CAP_MS };
  if (RATES.has(reason) || answer.status === 429)
    return { ...limit, code: "rate_limited", retryAfterMs: limitedForMs(answer) };
  return undefined;
}

/** What a parsed error of Google's APIs means (platforms reference 5.7); undefined when it says nothing definite. */
export function toFailure(answer: PlatformAnswer): Failure | undefined {
  if (object(answer.json, "error") === undefined || answer.status >= 500) return undefined;
  const reason = reasonOf(answer);
  const message = describe(answer, reason);
  const limit = toLimit(answer, reason, message);
  if (limit !== undefined) return limit;
  const code = REFUSALS.get(reason) ?? BY_STATUS.get(answer.status);
  if (code !== undefined) return { kind: "refused", code, message };
  return answer.status === 401 ? { kind: "token_refused", message } : undefined;
}

/** Nothing is visible because of a step, so what is not definite is tried again. */
export function toStepFailure(answer: PlatformAnswer): Failure {
  const message = describe(answer, reasonOf(answer));
  return toFailure(answer) ?? { kind: "retryable", code: "platform_unavailable", message };
}
