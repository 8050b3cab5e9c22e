import { header, list, type PlatformAnswer, shorten, text } from "#src/http/platform-answer.ts";
import {
  appLimitReached,
  type Failure,
  limitReached,
  platformUnavailable,
  refused,
  type TargetErrorCode,
} from "#src/publishing/outcome.ts";

const WINDOW_MS = 15 * 60_000;
/** The cap ends with the month or when the operator raises it. */
const USAGE_CAP_WAIT_MS = 6 * 3_600_000;

/**
 * Matches X's validation errors about media. They are recognized by the word "media" in the error
 * text, because no other field of the error shows the cause. X does not guarantee its error texts.
 */
const ABOUT_MEDIA = /\bmedia\b/i;

/**
 * The beginnings of the names of X's rate-limit headers: the window of 15 minutes, and the 24 hours
 * of the user and of the app (docs.x.com, rate limits, 2026-08-22).
 */
const BUCKETS = ["x-rate-limit", "x-user-limit-24hour", "x-app-limit-24hour"] as const;
const APP_BUCKET = "x-app-limit-24hour";

const DAILY_BUCKETS = ["x-user-limit-24hour", APP_BUCKET] as const;

function usedUpUntil(answer: PlatformAnswer, bucket: (typeof BUCKETS)[number]): number {
  const isUsedUp = Number(header(answer, `${bucket}-remaining`) ?? 0) === 0;
  const reset = Number(header(answer, `${bucket}-reset`));
  return isUsedUp && reset > 0 ? reset * 1000 : 0;
}

/** With a 404, or among the errors of a 200. */
export function isMissing({ status, json }: PlatformAnswer): boolean {
  if (status === 404) return json !== undefined;
  return list(json, "errors").some((error) =>
    (text(error, "type") ?? "").endsWith("/resource-not-found"),
  );
}

export function limitedForMs(answer: PlatformAnswer): number {
  const until = Math.max(...BUCKETS.map((bucket) => usedUpUntil(answer, bucket)));
  if (isUsageCapped(answer)) return Math.max(USAGE_CAP_WAIT_MS, until - Date.now());
  return until > 0 ? Math.max(1000, until - Date.now()) : WINDOW_MS;
}

function isUsageCapped(answer: PlatformAnswer): boolean {
  return (text(answer.json, "type") ?? "").endsWith("/usage-capped");
}

/** The limits of 24 hours and the usage cap of the app stop all accounts. */
export function toLimit(answer: PlatformAnswer, message: string): Failure {
  const retryAfterMs = limitedForMs(answer);
  const isOfApp = isUsageCapped(answer) || usedUpUntil(answer, APP_BUCKET) > Date.now();
  if (isOfApp) return appLimitReached("platform_quota", message, retryAfterMs);
  return limitReached(
    retryAfterMs > WINDOW_MS ? "platform_quota" : "rate_limited",
    message,
    retryAfterMs,
  );
}

/**
 * Undefined when the answer does not say so. With such an answer X states itself that it took no
 * further post, so the timeline, whose reading costs money, is not searched.
 */
export function toDailyLimit(answer: PlatformAnswer): Failure | undefined {
  if (answer.status !== 429 || answer.json === undefined) return undefined;
  const isUsedUp = DAILY_BUCKETS.some(
    (bucket) =>
      header(answer, `${bucket}-remaining`) === "0" && usedUpUntil(answer, bucket) > Date.now(),
  );
  return isUsedUp || isUsageCapped(answer) ? toLimit(answer, describe(answer)) : undefined;
}

/**
 * Matches X's refusals of the content of a post, where the account may still post: more than one
 * cashtag, and a reply to a post that is deleted or whose author did not mention the account
 * (docs.x.com, 2026-02-23 and 2026-08-22).
 */
const ABOUT_CONTENT =
  /cashtag|reply to a (tweet|post) that is deleted or not visible|only reply to or quote posts where you are mentioned/i;

function describe(answer: PlatformAnswer): string {
  const [first] = list(answer.json, "errors");
  return shorten(
    text(first, "message") ?? text(answer.json, "detail") ?? text(answer.json, "title"),
  );
}

function codeOfForbidden(answer: PlatformAnswer, message: string): TargetErrorCode {
  const type = text(answer.json, "type") ?? "";
  if (/duplicate content/i.test(message)) return "duplicate_on_platform";
  if (ABOUT_CONTENT.test(message)) return "content_rejected";
  if (/not-authorized|client-forbidden|unsupported-authentication/.test(type))
    return "permission_missing";
  return "account_action_needed";
}

export function toUploadFailure(answer: PlatformAnswer): Failure {
  const message = describe(answer) || `HTTP ${answer.status}`;
  switch (answer.status) {
    case 400:
    case 413:
    case 415:
    case 422:
      return refused("media_rejected", message);
    case 429:
      return toLimit(answer, message);
    default:
      return toFailure(answer) ?? platformUnavailable(message);
  }
}

export function toRepeatableFailure(answer: PlatformAnswer): Failure {
  const message = describe(answer) || `HTTP ${answer.status}`;
  if (answer.status === 429) return toLimit(answer, message);
  const failure = answer.json === undefined ? undefined : toFailure(answer);
  return failure ?? platformUnavailable(message);
}

/** Undefined when the error does not show whether the call took effect. */
export function toFailure(answer: PlatformAnswer): Failure | undefined {
  const message = describe(answer);
  switch (answer.status) {
    case 400:
      return refused(ABOUT_MEDIA.test(message) ? "media_rejected" : "content_rejected", message);
    case 401:
      return { kind: "token_refused", message };
    case 402:
      return refused("app_configuration", message);
    case 403:
      return refused(codeOfForbidden(answer, message), message);
    default:
      return undefined;
  }
}
