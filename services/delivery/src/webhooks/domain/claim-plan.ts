import type { Pace } from "./lane-pace.ts";

/** Maximum numbers of webhook attempts that run at a time in one process. */
export interface SlotLimits {
  readonly total: number;
  readonly perWorkspace: number;
  /**
   * Maximum number of attempts at a time to webhook receivers that are slow or do not answer, so
   * that attempts are left for the other receivers.
   */
  readonly slow: number;
  /** Maximum number of attempts at a time to webhook receivers that have not answered yet. */
  readonly new: number;
  /** Maximum number of attempts of a workspace at a time to receivers that fail. */
  readonly failingPerWorkspace: number;
}

/**
 * Half of the attempts for slow receivers and a quarter for new ones leave at least a quarter for
 * receivers that are known to be fast.
 */
export const SLOT_LIMITS: SlotLimits = {
  total: 512,
  perWorkspace: 128,
  slow: 256,
  new: 128,
  failingPerWorkspace: 8,
};

/**
 * How many further deliveries of a webhook subscription a process could send now, and whether the
 * subscription may have due deliveries.
 */
export interface LaneDemand {
  readonly subscriptionId: string;
  readonly workspaceId: string;
  /** Version of the webhook subscription that the process knows. */
  readonly version: number;
  readonly pace: Pace;
  readonly isFailing: boolean;
  /** Number of attempts of the webhook subscription that run now. */
  readonly running: number;
  /** Number of further attempts that the limits of the webhook subscription itself allow. */
  readonly free: number;
  /** Whether only webhook deliveries that a user asked for may be sent. */
  readonly onlyManual: boolean;
  /** Whether the webhook subscription may have due deliveries. */
  readonly isAsking: boolean;
}

/** A webhook subscription for which deliveries are claimed. */
export interface PlannedLane {
  readonly subscriptionId: string;
  readonly version: number;
  readonly pace: Pace;
  /** Maximum number of deliveries of the webhook subscription to claim. */
  readonly free: number;
  readonly onlyManual: boolean;
  readonly workspaceRunning: number;
  /** Maximum number of webhook deliveries of the workspace to claim. */
  readonly workspaceFree: number;
  /**
   * Maximum number of webhook deliveries to claim in the workspace for receivers of the same speed.
   */
  readonly workspacePaceFree: number;
}

/** How many deliveries of which webhook subscriptions a process claims. */
export interface ClaimPlan {
  readonly lanes: readonly PlannedLane[];
  readonly total: number;
  readonly slow: number;
  readonly new: number;
}

/**
 * Minimum number of webhook deliveries that each subscription may claim, even if there are more
 * subscriptions than free attempts.
 */
const MIN_SHARE = 4;

class Counts {
  readonly #counts = new Map<string, number>();

  add(key: string, amount: number): void {
    this.#counts.set(key, this.of(key) + amount);
  }

  of(key: string): number {
    return this.#counts.get(key) ?? 0;
  }
}

/** Returns how many webhook attempts may begin, by the speed of their receivers. */
function freeByPace(
  lanes: readonly LaneDemand[],
  limits: SlotLimits,
): Readonly<Record<Pace | "total", number>> {
  const running = new Counts();
  for (const { pace, running: amount } of lanes) {
    running.add(pace, amount);
    running.add("total", amount);
  }
  const total = Math.max(0, limits.total - running.of("total"));
  const slow = Math.max(0, Math.min(total, limits.slow - running.of("slow")));
  const both = limits.slow + limits.new - running.of("slow") - running.of("new");
  const unknown = Math.max(0, Math.min(total, limits.new - running.of("new"), both));
  return { total, fast: total, slow, new: unknown };
}

/**
 * Returns how many deliveries of which webhook subscriptions a process claims, so that neither slow
 * receivers nor one workspace use up the slots. Within a workspace, slow receivers can use at most
 * half of its slots.
 *
 * @param demands All subscriptions whose leases the process holds.
 */
export function planClaim(demands: readonly LaneDemand[], limits: SlotLimits): ClaimPlan {
  const free = freeByPace(demands, limits);
  const workspaces = new Counts();
  for (const { workspaceId, pace, isFailing, running } of demands) {
    workspaces.add(workspaceId, running);
    workspaces.add(`${workspaceId} ${pace}`, running);
    if (isFailing) workspaces.add(`${workspaceId} failing`, running);
  }
  const asking = demands.filter((lane) => lane.isAsking && lane.free > 0 && free[lane.pace] > 0);
  const share = Math.max(MIN_SHARE, Math.ceil(free.total / Math.max(1, asking.length)));
  const lanes = asking.map((lane) => {
    const workspaceRunning = workspaces.of(lane.workspaceId);
    const workspaceFree = limits.perWorkspace - workspaceRunning;
    const half = limits.perWorkspace / 2 - workspaces.of(`${lane.workspaceId} slow`);
    const failing = limits.failingPerWorkspace - workspaces.of(`${lane.workspaceId} failing`);
    const workspacePaceFree = Math.min(
      workspaceFree,
      lane.pace === "slow" ? half : workspaceFree,
      lane.isFailing ? failing : workspaceFree,
    );
    return {
      subscriptionId: lane.subscriptionId,
      version: lane.version,
      pace: lane.pace,
      free: Math.min(lane.free, share, free[lane.pace], workspacePaceFree),
      onlyManual: lane.onlyManual,
      workspaceRunning,
      workspaceFree,
      workspacePaceFree,
    };
  });
  return {
    lanes: lanes.filter((lane) => lane.free > 0),
    total: free.total,
    slow: free.slow,
    new: free.new,
  };
}
