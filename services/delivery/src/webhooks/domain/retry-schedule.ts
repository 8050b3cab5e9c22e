import type { Attempt, AttemptOutcome } from "./attempt.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Waits in milliseconds after the first failed attempt of a webhook delivery, the second, and so on. */
export const RETRY_WAITS_MS: readonly number[] = [
  5 * SECOND,
  MINUTE,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  18 * HOUR,
  24 * HOUR,
];
/**
 * Fraction by which a wait before a retry is made longer or shorter at random, so that the retries after an outage do
 * not arrive at once.
 */
const JITTER = 0.2;
/**
 * Maximum pause in milliseconds that a webhook receiver can ask for. If it asks for a longer one, the pause has this
 * maximum.
 */
const MAX_PAUSE_MS = 24 * HOUR;

const HTTP_DATE =
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** Returns a wait that is up to 20 % longer or shorter than the given one. */
export function withJitter(ms: number, random: () => number): number {
  return Math.round(ms * (1 - JITTER + 2 * JITTER * random()));
}

export type NextAttempt =
  | { readonly kind: "retry"; readonly delayMs: number }
  | { readonly kind: "exhausted" };

/**
 * Returns when a failed webhook delivery is sent again.
 * @param attemptCount Number of attempts of the delivery, all of which have failed.
 */
export function scheduleRetry(
  attemptCount: number,
  random: () => number,
  waitsMs = RETRY_WAITS_MS,
): NextAttempt {
  const waitMs = waitsMs[attemptCount - 1];
  return waitMs === undefined
    ? { kind: "exhausted" }
    : { kind: "retry", delayMs: withJitter(waitMs, random) };
}

/**
 * Returns how long a `Retry-After` header asks to wait, in milliseconds: at most 24 h, and 0 without a header, with a time in
 * the past or with a value that is neither seconds nor an HTTP date (RFC 9110, section 10.2.3).
 */
export function parseRetryAfter(header: string | undefined, now: Date): number {
  const text = header?.trim() ?? "";
  const isSeconds = /^\d+$/.test(text);
  if (!isSeconds && !HTTP_DATE.test(text)) return 0;
  const ms = isSeconds ? Number(text) * SECOND : Date.parse(text) - now.getTime();
  return Number.isNaN(ms) ? 0 : Math.min(Math.max(ms, 0), MAX_PAUSE_MS);
}

/** Returns what a webhook attempt that ended at `now` means for its delivery and its subscription. */
export function toOutcome(
  { error, statusCode, responseHeaders }: Attempt,
  now: Date,
): AttemptOutcome {
  if (error === null) return { kind: "succeeded" };
  if (statusCode === null) return { kind: "unanswered" };
  if (statusCode === 410) return { kind: "gone" };
  const mayPause = statusCode === 429 || statusCode === 503;
  const pauseMs = mayPause ? parseRetryAfter(responseHeaders?.["retry-after"], now) : 0;
  return { kind: "refused", pauseMs };
}
