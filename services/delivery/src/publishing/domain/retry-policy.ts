import type { TargetErrorCode } from "@postrider/platforms/publishing/outcome";

/** Settings that decide when a publish task is tried again. All times are milliseconds. */
export interface RetryPolicy {
  /** Waits before the first, second … retry of a task; a failure after the last retry is final. */
  readonly retryMs: readonly number[];
  /** How long the worker keeps a task whose access token was refused, while it refreshes the token. */
  readonly leaseMs: number;
  /** How long an account is paused after five failures in a row, after six, and so on; the last value repeats. */
  readonly accountPauseMs: readonly number[];
}

const FAILURES_BEFORE_PAUSE = 5;
const JITTER = 0.2;
/** How long a rate limit holds if the platform does not say how long to wait. */
export const DEFAULT_LIMIT_MS = 60_000;

/**
 * Milliseconds before retry number `retryCount + 1`, with 20 % jitter so that tasks that failed together do not retry
 * together; undefined if no retry is left.
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
 * Milliseconds before a harmless repetition of a publishing call with an unknown outcome: 0 before the first repetition, then
 * the waits of `retryMs`, of which the last one repeats.
 */
export function nextRepeatMs(policy: RetryPolicy, unknownCount: number): number {
  if (unknownCount <= 1) return 0;
  return policy.retryMs[Math.min(unknownCount - 2, policy.retryMs.length - 1)] ?? 0;
}

/** How many milliseconds an account is paused after this many retryable failures in a row; undefined if it is not paused. */
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
