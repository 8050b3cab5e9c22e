import { tokensAt } from "@postrider/shared/limits/token-bucket";
import type { AdmissionSource } from "#src/clients/admit-batches.ts";
import { type RateLimitState, toRateLimitState, WINDOW_MS } from "#src/http/rate-limit.ts";

/** The requests that one workspace may still make through this gateway process. */
export interface WorkspaceBudget {
  readonly workspaceId: string;
  /** Number of requests per minute that the workspace may make. It may also make all of them at once. */
  quota: number;
  /**
   * Number of requests that the accounts service granted to the workspace and that are not used yet. While the accounts
   * service answers, only these requests are admitted.
   */
  prepaid: number;
  /** Time at which the gateway asked for the newest granted requests in `prepaid`. */
  prepaidAt: number;
  /**
   * The API key and workspace that the gateway names when it returns unused granted requests to the accounts service.
   */
  source: AdmissionSource;
  /**
   * Number of requests that the accounts service had left for the workspace at the time `leftAt`. The gateway shows it
   * to clients and uses it during an outage of the accounts service.
   */
  left: number;
  leftAt: number;
  /** Time until which the accounts service has no request left for the workspace. */
  emptyUntil: number;
  /**
   * Number of requests of the workspace that were admitted during an outage of the accounts service. They are deducted
   * from the next granted requests.
   */
  debt: number;
  /** Time at which the accounts service was asked for its newest known answer about the workspace. */
  sentAt: number;
}

/** An answer of the accounts service about the rate limit of a workspace. */
export interface BudgetAnswer {
  readonly quota: number;
  readonly granted: number;
  /**
   * Number of the requests in `granted` that are set aside for waiting requests. The gateway does not deduct requests
   * that it admitted during an outage from them.
   */
  readonly kept: number;
  readonly remaining: number;
  readonly emptyForMs: number;
  readonly source: AdmissionSource;
  readonly sentAt: number;
}

export function newWorkspaceBudget(workspaceId: string, source: AdmissionSource): WorkspaceBudget {
  return {
    workspaceId,
    quota: 1,
    prepaid: 0,
    prepaidAt: 0,
    source,
    left: 0,
    leftAt: 0,
    emptyUntil: 0,
    debt: 0,
    sentAt: -Infinity,
  };
}

/**
 * Adds granted requests to those that a workspace may make. The requests that were admitted during an outage are
 * deducted first, so that an outage never raises the rate limit.
 */
export function addAnswer(budget: WorkspaceBudget, answer: BudgetAnswer, now: number): void {
  const repaid = Math.min(budget.debt, Math.max(0, answer.granted - answer.kept));
  budget.debt -= repaid;
  budget.prepaid += answer.granted - repaid;
  if (answer.granted > 0) {
    budget.prepaidAt = Math.max(budget.prepaidAt, answer.sentAt);
    budget.source = answer.source;
  }
  // Answers of the accounts service may arrive out of order: an older answer does not say how many requests are left
  // now.
  if (answer.sentAt < budget.sentAt) return;
  budget.sentAt = answer.sentAt;
  budget.quota = answer.quota;
  budget.left = answer.remaining;
  budget.leftAt = now;
  budget.emptyUntil = answer.remaining > 0 ? 0 : now + answer.emptyForMs;
}

/** Uses one granted request of the workspace. Returns false when no granted request is left. */
export function spendPrepaid(budget: WorkspaceBudget): boolean {
  if (budget.prepaid < 1) return false;
  budget.prepaid -= 1;
  return true;
}

function estimatedLeft({ left, leftAt, quota }: WorkspaceBudget, now: number): number {
  return tokensAt({ tokens: left, at: leftAt }, { capacity: quota, windowMs: WINDOW_MS }, now);
}

/**
 * Admits a request of the workspace during an outage of the accounts service. The request is taken from those that the
 * workspace had left, which are refilled at the workspace's own rate. Returns false when none is left.
 */
export function spendOnCredit(budget: WorkspaceBudget, now: number): boolean {
  budget.left = estimatedLeft(budget, now);
  budget.leftAt = now;
  if (budget.left < 1) return false;
  budget.left -= 1;
  budget.debt += 1;
  return true;
}

/** Removes up to `count` granted requests of a workspace, by default all, and returns how many were removed. */
export function takePrepaid(budget: WorkspaceBudget, count = budget.prepaid): number {
  const taken = Math.min(count, budget.prepaid);
  budget.prepaid -= taken;
  return taken;
}

export function rateLimitOf(budget: WorkspaceBudget, now: number): RateLimitState {
  const { quota, prepaid } = budget;
  const left = now < budget.emptyUntil ? 0 : estimatedLeft(budget, now);
  const remaining = Math.min(quota, Math.max(0, Math.floor(left + prepaid)));
  return toRateLimitState("workspace", quota, remaining);
}

/** Seconds, at least 1, until the accounts service may grant the workspace another request. */
export function retryAfterSeconds(budget: WorkspaceBudget, now: number): number {
  return Math.max(1, Math.ceil((budget.emptyUntil - now) / 1000));
}
