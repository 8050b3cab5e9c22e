import type { CallBudget } from "@postrider/platforms/metrics/connector";

/** A budget as the database keeps it: up to `burst` calls at once, and one call per interval afterwards. */
export interface Bucket {
  readonly scope: CallBudget["scope"];
  readonly intervalMs: number;
  readonly burst: number;
}

/** Part of the calls of a window that may be made at once. */
const BURST_SHARE = 0.1;

/**
 * Converts a budget so that no window of its length has more calls than it allows: at most `burst` calls at the beginning of the
 * window, and one at the end of each interval within it.
 */
export function toBucket({ scope, calls, windowMs }: CallBudget): Bucket {
  const burst = Math.max(1, Math.floor(calls * BURST_SHARE));
  return { scope, burst, intervalMs: windowMs / (calls - burst + 1) };
}
