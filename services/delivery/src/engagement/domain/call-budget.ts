import type { AppBudget, CallCost } from "@postrider/platforms/comments/connector";
import type { CallBudget, MetricsConnector } from "@postrider/platforms/metrics/connector";

/** Up to `burst` units at once, and one unit per interval afterwards. */
export interface Rate {
  readonly intervalMs: number;
  readonly burst: number;
}

export interface Bucket extends Rate {
  readonly scope: CallBudget["scope"];
  readonly isPerPost: boolean;
  readonly unitsPerCall: number;
}

/** Share of a time window's units. */
const BURST_SHARE = 0.1;

/** No window has more units than the platform allows: `burst` at once, then one an interval. */
function toRate(units: number, windowMs: number, burst: number): Rate {
  return { burst, intervalMs: windowMs / (units - burst + 1) };
}

export function toBucket({
  budget,
  maxPosts,
}: Pick<MetricsConnector, "budget" | "maxPosts">): Bucket {
  const { scope, calls, windowMs } = budget;
  const isPerPost = scope === "app" && budget.isPerPost === true;
  const unitsPerCall = isPerPost ? maxPosts : 1;
  const burst = Math.max(unitsPerCall, Math.floor(calls * BURST_SHARE));
  return { scope, isPerPost, unitsPerCall, ...toRate(calls, windowMs, burst) };
}

/**
 * What a refresh of metrics at the request of a user takes from the budget of scheduled refreshes;
 * undefined if the platform counts the calls of each account apart.
 */
export function costOfRefresh(
  connector: Pick<MetricsConnector, "budget" | "maxPosts">,
  posts: number,
): CallCost | undefined {
  const { scope, calls, windowMs } = connector.budget;
  const { burst, isPerPost } = toBucket(connector);
  if (scope === "account") return undefined;
  const budget = { name: "metrics", units: calls, windowMs, burstShare: burst / calls } as const;
  return { budget, units: isPerPost ? posts : 1 };
}

/** What the budget of an app has been charged, as the time until all of it is usable again. */
export interface Charged {
  readonly appMs: number;
  /** Of the workspace that wants units. */
  readonly ownMs: number;
  /** Other workspaces that used units, or found none, a short time ago. */
  readonly others: number;
  /** Until the platform gives back all units; null if it never does. */
  readonly resetMs: number | null;
}

export interface TakenUnits {
  /** Undefined if the units are taken. Otherwise the call must not be made before. */
  readonly waitMs: number | undefined;
  /** As `Charged`, afterwards. */
  readonly appMs: number;
  readonly ownMs: number;
}

/** A workspace may use this share at once, so that others always find units. */
const OWN_SHARE = 0.5;
/** For this time longer than it waits, a workspace that found no units counts as one of others. */
export const WANTED_MS = 60_000;

/**
 * Whether a workspace may use units of the app's budget now. A workspace may have half of the
 * burst, and then an equal part of the units that become usable, all of them while it is alone. One
 * call may be made in any case by a workspace that is charged nothing.
 */
export function takeUnits(
  { units: allUnits, windowMs, burstShare }: AppBudget,
  units: number,
  { appMs, ownMs, others, resetMs }: Charged,
): TakenUnits {
  const { burst, intervalMs } = toRate(allUnits, windowMs, Math.round(allUnits * burstShare));
  const needMs = units * intervalMs;
  const ownNeedMs = needMs * (1 + others);
  const appWaitMs = appMs + needMs - burst * intervalMs;
  const ownWaitMs = Math.min(ownMs, ownMs + ownNeedMs - burst * intervalMs * OWN_SHARE);
  if (appWaitMs <= 0 && ownWaitMs <= 0)
    return { waitMs: undefined, appMs: appMs + needMs, ownMs: ownMs + ownNeedMs };
  // The others go on using their parts while the workspace waits.
  const waitMs = Math.max(appWaitMs * (1 + others), ownWaitMs);
  const wantedMs = Math.min(waitMs + WANTED_MS, (burst * intervalMs * OWN_SHARE) / 2);
  return {
    waitMs: Math.min(waitMs, resetMs ?? waitMs),
    appMs,
    ownMs: ownWaitMs > 0 ? ownMs : Math.max(ownMs, wantedMs),
  };
}

/** Of units that a call used beyond those taken; negative for those that it did not use. */
export function chargeOf(
  { units: allUnits, windowMs, burstShare }: AppBudget,
  units: number,
): number {
  return units * toRate(allUnits, windowMs, Math.round(allUnits * burstShare)).intervalMs;
}
