import type { BreakerPolicy } from "#src/calls/breaker.ts";
import type { RetryWaits } from "#src/domain/retry-wait.ts";

/** All times are milliseconds. */
export interface RetryPolicy extends RetryWaits {
  /** While it renews an access token that the platform refused. */
  readonly leaseMs: number;
  /** After five failures in a row, six, and so on; the last value repeats. */
  readonly accountPauseMs: readonly number[];
}

export interface PublishingPolicy extends RetryPolicy, BreakerPolicy {}

const FAILURES_BEFORE_PAUSE = 5;

/** Undefined if the account is not paused. */
export function nextAccountPauseMs(policy: RetryPolicy, failuresInRow: number): number | undefined {
  const pauses = policy.accountPauseMs;
  const step = failuresInRow - FAILURES_BEFORE_PAUSE;
  return step < 0 ? undefined : pauses[Math.min(step, pauses.length - 1)];
}
