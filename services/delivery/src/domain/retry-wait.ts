import type { TargetErrorCode } from "@postrider/platforms/publishing/outcome";

/** Settings that decide when a task is tried again after a temporary failure. */
export interface RetryWaits {
  /**
   * Waits in milliseconds before the first, second … retry; a failure after the last retry is
   * final.
   */
  readonly retryMs: readonly number[];
}

const JITTER = 0.2;
/**
 * How long an account waits in milliseconds after a rate limit for which the platform names no
 * wait.
 */
export const DEFAULT_LIMIT_MS = 60_000;

/**
 * Returns the wait in milliseconds before retry number `retryCount + 1` of a task, with 20 % jitter
 * so that tasks that failed together do not retry together. Returns undefined if no retry is left.
 *
 * @param random In [0, 1).
 */
export function nextRetryMs(
  policy: RetryWaits,
  retryCount: number,
  random: number,
): number | undefined {
  const baseMs = policy.retryMs[retryCount];
  if (baseMs === undefined) return undefined;
  return Math.round(baseMs * (1 - JITTER + 2 * JITTER * random));
}

const RETRYABLE: ReadonlySet<string> = new Set<TargetErrorCode>([
  "media_fetch_failed",
  "platform_quota",
  "rate_limited",
  "platform_unavailable",
  "missed",
  "internal_error",
]);

/**
 * Whether a user can repeat a request that failed with this error code, and succeed without
 * changing anything else.
 */
export function isRetryable(code: string): boolean {
  return RETRYABLE.has(code);
}
