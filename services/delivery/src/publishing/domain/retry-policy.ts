import type { TargetErrorCode } from "@postrider/platforms/publishing/outcome";

/** Settings that decide when something is tried again. All times are milliseconds. */
export interface RetryPolicy {
  /** Waits before the first, second … retry; after the last one the target fails. */
  readonly retryMs: readonly number[];
  /** How long the worker keeps a task that goes on after its token was refused. */
  readonly leaseMs: number;
  /** How long an account rests after five failures in a row, after six, and so on; the last one stays. */
  readonly accountPauseMs: readonly number[];
}

const FAILURES_BEFORE_PAUSE = 5;
const JITTER = 0.2;
/** A platform that names no wait with its limit gets this one. */
export const DEFAULT_LIMIT_MS = 60_000;

/**
 * Milliseconds before retry number `retryCount + 1`, with 20 % jitter so that what failed together does not return
 * together; undefined when the list is used up.
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
 * Milliseconds before a harmless repetition of a call with an unknown outcome: none before the first, then the waits of
 * the list, the last one again and again.
 */
export function nextRepeatMs(policy: RetryPolicy, unknownCount: number): number {
  if (unknownCount <= 1) return 0;
  return policy.retryMs[Math.min(unknownCount - 2, policy.retryMs.length - 1)] ?? 0;
}

/** Milliseconds that an account rests after so many retryable failures in a row; undefined while it need not. */
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

/** Whether the owner's retry can help without a person changing something. */
export function isRetryable(code: TargetErrorCode): boolean {
  return RETRYABLE.has(code);
}
