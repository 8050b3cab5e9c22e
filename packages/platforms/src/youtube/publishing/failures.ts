import {
  header,
  list,
  object,
  type PlatformAnswer,
  shorten,
  text,
} from "#src/http/platform-answer.ts";
import {
  appLimitReached,
  type Failure,
  limitReached,
  platformUnavailable,
  type TargetErrorCode,
  type Unknown,
} from "#src/publishing/outcome.ts";

const DAY_MS = 86_400_000;

const pacificTime = new Intl.DateTimeFormat("en-US", {
  timeZone: "America/Los_Angeles",
  hourCycle: "h23",
  hour: "numeric",
  minute: "numeric",
  second: "numeric",
});

function timeOfDayMs(now: Date): number {
  const parts = new Map(pacificTime.formatToParts(now).map(({ type, value }) => [type, value]));
  const [hour, minute, second] = ["hour", "minute", "second"].map((type) =>
    Number(parts.get(type as Intl.DateTimeFormatPartTypes)),
  );
  return (((hour ?? 0) * 60 + (minute ?? 0)) * 60 + (second ?? 0)) * 1000 + (now.getTime() % 1000);
}

/**
 * Returns the milliseconds until the next midnight in California, when Google resets its daily
 * quotas.
 */
export function msUntilPacificMidnight(now: Date): number {
  const guessMs = DAY_MS - timeOfDayMs(now);
  // On a day on which the clocks change, the first estimate of midnight is wrong by one hour and is
  // corrected.
  const offMs = timeOfDayMs(new Date(now.getTime() + guessMs));
  return offMs > DAY_MS / 2 ? guessMs + (DAY_MS - offMs) : guessMs - offMs;
}

const HOUR_MS = 3_600_000;
/**
 * Wait in milliseconds after a YouTube channel reached its daily limit; YouTube does not document
 * when the limit is reset.
 */
const CHANNEL_CAP_WAIT_MS = 6 * HOUR_MS;
/**
 * Wait in milliseconds after a rate limit of YouTube whose answer does not say how long to wait.
 */
const RATE_WAIT_MS = 60_000;
/** Google's counters are not exact to the second. */
const RESET_MARGIN_MS = 60_000;

const DAILY_QUOTA_REASONS: ReadonlySet<string> = new Set(["quotaExceeded", "dailyLimitExceeded"]);
const RATE_LIMIT_REASONS: ReadonlySet<string> = new Set([
  "rateLimitExceeded",
  "userRateLimitExceeded",
  "uploadRateLimitExceeded",
]);

/**
 * How Google names a limit per day: in the text of an error, and as the name of the limit in its
 * details.
 */
const PER_DAY = /per ?day/i;

/**
 * Whether a daily limit of the Google project refused the call. The limit of uploads answers HTTP
 * 429 with the reason of a short rate limit; only the name of the limit tells them apart (answers
 * in public repositories, 2026-05-28).
 */
function isDailyQuota({ json }: PlatformAnswer, reason: string, message: string): boolean {
  if (DAILY_QUOTA_REASONS.has(reason)) return true;
  if (!RATE_LIMIT_REASONS.has(reason)) return false;
  const limits = list(object(json, "error"), "details").map((detail) =>
    text(object(detail, "metadata"), "quota_limit"),
  );
  return [message, ...limits].some((name) => PER_DAY.test(name ?? ""));
}

/** Error codes for the reasons in YouTube errors that are more precise than the HTTP status. */
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

/** Error codes by HTTP status, for YouTube errors whose reason has no error code of its own. */
const CODE_BY_STATUS: ReadonlyMap<number, TargetErrorCode> = new Map([
  [400, "content_rejected"],
  [403, "permission_missing"],
  [413, "media_rejected"],
  [415, "media_rejected"],
]);

export function reasonOf(answer: PlatformAnswer): string {
  const [first] = list(object(answer.json, "error"), "errors");
  return text(first, "reason") ?? "";
}

function describe(answer: PlatformAnswer, reason: string): string {
  const message = text(object(answer.json, "error"), "message") ?? "";
  // Google's error messages contain HTML links, which are removed.
  return shorten(message.replaceAll(/<[^<>]*>/g, "")) || shorten(reason) || `HTTP ${answer.status}`;
}

export function limitedForMs(answer: PlatformAnswer): number {
  const seconds = Number(header(answer, "retry-after"));
  return seconds > 0 ? seconds * 1000 : RATE_WAIT_MS;
}

function toLimit(answer: PlatformAnswer, reason: string, message: string): Failure | undefined {
  if (isDailyQuota(answer, reason, message)) {
    const retryAfterMs = msUntilPacificMidnight(new Date()) + RESET_MARGIN_MS;
    return appLimitReached("platform_quota", message, retryAfterMs);
  }
  if (reason === "uploadLimitExceeded")
    return limitReached("platform_quota", message, CHANNEL_CAP_WAIT_MS);
  if (RATE_LIMIT_REASONS.has(reason) || answer.status === 429)
    return limitReached("rate_limited", message, limitedForMs(answer));
  return undefined;
}

/** Undefined when the error does not show whether the call took effect. */
export function toFailure(answer: PlatformAnswer): Failure | undefined {
  if (object(answer.json, "error") === undefined || answer.status >= 500) return undefined;
  const reason = reasonOf(answer);
  const message = describe(answer, reason);
  const limit = toLimit(answer, reason, message);
  if (limit !== undefined) return limit;
  const code = REFUSALS.get(reason) ?? CODE_BY_STATUS.get(answer.status);
  if (code !== undefined) return { kind: "refused", code, message };
  return answer.status === 401 ? { kind: "token_refused", message } : undefined;
}

/** After HTTP 429 the call may have taken effect. */
export function toVisibleFailure(answer: PlatformAnswer): Failure | Unknown {
  const message = `HTTP ${answer.status}`;
  if (answer.status === 429)
    return { kind: "unknown", message, limitedForMs: limitedForMs(answer) };
  return toFailure(answer) ?? { kind: "unknown", message };
}

export function toStepFailure(answer: PlatformAnswer): Failure {
  const message = describe(answer, reasonOf(answer));
  return toFailure(answer) ?? platformUnavailable(message);
}
