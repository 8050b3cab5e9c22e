import type { CallBudget, MetricsConnector } from "@postrider/platforms/metrics/connector";

/**
 * A call budget as the database stores it: up to `burst` units at once, and one unit per interval
 * afterwards.
 */
export interface Bucket {
  readonly scope: CallBudget["scope"];
  readonly isPerPost: boolean;
  readonly unitsPerCall: number;
  readonly intervalMs: number;
  readonly burst: number;
}

/** Fraction of the units of a call budget's time window that may be used at once. */
const BURST_SHARE = 0.1;

/**
 * Converts the platform's limit per time window so that no window has more units than it allows: at
 * most `burst` units at the beginning of the window, and one at the end of each interval within it.
 */
export function toBucket({
  budget,
  maxPosts,
}: Pick<MetricsConnector, "budget" | "maxPosts">): Bucket {
  const { scope, calls, windowMs } = budget;
  const isPerPost = scope === "app" && budget.isPerPost === true;
  const unitsPerCall = isPerPost ? maxPosts : 1;
  const burst = Math.max(unitsPerCall, Math.floor(calls * BURST_SHARE));
  return { scope, isPerPost, unitsPerCall, burst, intervalMs: windowMs / (calls - burst + 1) };
}
