const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

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
/** Part by which waits vary, so that the retries after an outage do not arrive at once. */
const JITTER = 0.2;

export function withJitter(ms: number, random: () => number): number {
  return Math.round(ms * (1 - JITTER + 2 * JITTER * random()));
}

export type NextAttempt =
  | { readonly kind: "retry"; readonly delayMs: number }
  | { readonly kind: "exhausted" };

/**
 * Returns when a failed webhook delivery is sent again.
 *
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
