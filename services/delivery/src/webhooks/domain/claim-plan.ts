import type { Pace } from "./receiver-state.ts";

export interface SlotLimits {
  readonly total: number;
  readonly perWorkspace: number;
  /** Maximum of attempts to receivers that are slow or silent, so that others can be sent to. */
  readonly slow: number;
  /** Maximum of attempts to receivers that have not answered yet. */
  readonly new: number;
  /** Maximum of attempts to all receivers of a workspace that fail. */
  readonly failingPerWorkspace: number;
}

/** This leaves at least a quarter for receivers that are known to be fast. */
export const SLOT_LIMITS: SlotLimits = {
  total: 512,
  perWorkspace: 128,
  slow: 256,
  new: 128,
  failingPerWorkspace: 8,
};

export interface SubscriptionDemand {
  readonly subscriptionId: string;
  readonly workspaceId: string;
  readonly version: number;
  readonly pace: Pace;
  readonly isFailing: boolean;
  readonly running: number;
  /** Number of further attempts that the limits of the subscription itself allow. */
  readonly free: number;
  /** Whether only deliveries that a user asked for may be sent. */
  readonly onlyManual: boolean;
  /** Whether the subscription may have due deliveries. */
  readonly isAsking: boolean;
}

export interface PlannedSubscription {
  readonly subscriptionId: string;
  readonly version: number;
  readonly pace: Pace;
  readonly free: number;
  readonly onlyManual: boolean;
  readonly workspaceRunning: number;
  readonly workspaceFree: number;
  readonly workspacePaceFree: number;
}

export interface ClaimPlan {
  readonly leases: readonly PlannedSubscription[];
  readonly total: number;
  readonly slow: number;
  readonly new: number;
}

/** Each subscription may claim as many, even if there are more subscriptions than free attempts. */
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

function freeByPace(
  leases: readonly SubscriptionDemand[],
  limits: SlotLimits,
): Readonly<Record<Pace | "total", number>> {
  const running = new Counts();
  for (const { pace, running: amount } of leases) {
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
export function planClaim(demands: readonly SubscriptionDemand[], limits: SlotLimits): ClaimPlan {
  const free = freeByPace(demands, limits);
  const workspaces = new Counts();
  for (const { workspaceId, pace, isFailing, running } of demands) {
    workspaces.add(workspaceId, running);
    workspaces.add(`${workspaceId} ${pace}`, running);
    if (isFailing) workspaces.add(`${workspaceId} failing`, running);
  }
  const asking = demands.filter(
    (lease) => lease.isAsking && lease.free > 0 && free[lease.pace] > 0,
  );
  const share = Math.max(MIN_SHARE, Math.ceil(free.total / Math.max(1, asking.length)));
  const leases = asking.map((lease) => {
    const workspaceRunning = workspaces.of(lease.workspaceId);
    const workspaceFree = limits.perWorkspace - workspaceRunning;
    const half = limits.perWorkspace / 2 - workspaces.of(`${lease.workspaceId} slow`);
    const failing = limits.failingPerWorkspace - workspaces.of(`${lease.workspaceId} failing`);
    const workspacePaceFree = Math.min(
      workspaceFree,
      lease.pace === "slow" ? half : workspaceFree,
      lease.isFailing ? failing : workspaceFree,
    );
    return {
      subscriptionId: lease.subscriptionId,
      version: lease.version,
      pace: lease.pace,
      free: Math.min(lease.free, share, free[lease.pace], workspacePaceFree),
      onlyManual: lease.onlyManual,
      workspaceRunning,
      workspaceFree,
      workspacePaceFree,
    };
  });
  return {
    leases: leases.filter((lease) => lease.free > 0),
    total: free.total,
    slow: free.slow,
    new: free.new,
  };
}
