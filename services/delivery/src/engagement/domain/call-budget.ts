import type { CallBudget, MetricsConnector } from "@postrider/platforms/metrics/connector";

/** Up to `burst` units at once, and one unit per interval afterwards. */
export interface Bucket {
  readonly scope: CallBudget["scope"];
  readonly isPerPost: boolean;
  readonly unitsPerCall: number;
  readonly intervalMs: number;
  readonly burst: number;
}

/** Share of a time window's units. */
const BURST_SHARE = 0.1;

/** No window has more units than the platform allows: `burst` at once, then one an interval. */
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
