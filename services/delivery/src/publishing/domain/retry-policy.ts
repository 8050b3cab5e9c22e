import type { TargetErrorCode } from "@postrider/platforms/publishing/outcome";
import type { BrakePolicy } from "./platform-brake.ts";

/** Settings that decide when a publish task is tried again. All times are milliseconds. */
export interface RetryPolicy {
  /** Waits before the first, second … retry of a task; a failure after the last retry is final. */
  readonly retryMs: readonly number[];
  /** How long a worker keeps a publish task while it renews an access token that the platform refused. */
  readonly leaseMs: number;
  /** How long an account is paused after five failures in a row, after six, and so on; the last value repeats. */
  readonly accountPauseMs: readonly number[];
}

/** Settings that decide what follows from an event about a publish task. */
export interface PublishingPolicy extends RetryPolicy, BrakePolicy {}

const FAILURES_BEFORE_PAUSE = 5;
const JITTER = 0.2;
/** How long publishing waits after a rate limit if the platform does not say how long to wait. */
export const DEFAULT_LIMIT_MS = 60_000;

/**
 * Returns the wait in milliseconds before retry number `retryCount + 1` of a publish task, with 20 % jitter so that
 * tasks that failed together do not retry together. Returns undefined if no retry is left.
 *
 * @param random In [0, 1).
 */
export function nextRetryMs(
  policy: RetryPolicy,
  retryCount: number,
  random: number,
): number | undefined {
  const baseMs = policy.retryMs[retryCount];
  if (baseMs === undefined) return undefined;
  return Math.round(baseMs * (1 - JITTER + 2 * JITTER * random));
}

/**
 * Returns the wait in milliseconds before a publishing call with an unknown outcome is sent again on a platform where
 * repeating it is harmless. It is 0 before the first repetition; then it follows `retryMs`, whose last value repeats.
 */
export function nextRepeatMs(policy: RetryPolicy, unknownCount: number): number {
  if (unknownCount <= 1) return 0;
  return policy.retryMs[Math.min(unknownCount - 2, policy.retryMs.length - 1)] ?? 0;
}

/**
 * How many milliseconds an account is paused after this many consecutive failures that can be retried; undefined if it
 * is not paused.
 */
export function nextAccountPauseMs(policy: RetryPolicy, failuresInRow: number): number | undefined {
  const pauses = policy.accountPauseMs;
  const step = failuresInRow - FAILURES_BEFORE_PAUSE;
  return step < 0 ? undefined : pauses[Math.min(step, pauses.length - 1)];
}

const RETRYABLE: ReadonlySet<TargetErrorCode> = new Set<TargetErrorCode>([
  "media_fetch_failed",
  "platform_quota",
  "rate_limited",
  "platform_unavailable",
  "missed",
  "internal_error",
]);

/** Whether a target that failed with this error code can succeed when the user retries it without another change. */
export function isRetryable(code: TargetErrorCode): boolean {
  return RETRYABLE.has(code);
}
