import { tokensAt } from "@postrider/shared/limits/token-bucket";
import type { AdmissionSource } from "#src/clients/admit-batches.ts";
import { type RateLimitState, toRateLimitState, WINDOW_MS } from "#src/http/rate-limit.ts";

/** The requests that one workspace may still make through this process. */
export interface WorkspaceBudget {
  readonly workspaceId: string;
  /** Requests per minute, which is also the burst. */
  quota: number;
  /**
   * Requests that the accounts service granted and that are not used yet. While the service answers, only these are
   * used.
   */
  prepaid: number;
  /** When the newest grant in `prepaid` was asked for. */
  prepaidAt: number;
  /** The pair of key and workspace to which unused requests are returned. */
  source: AdmissionSource;
  /** Requests that the accounts service had left at `leftAt`: an estimate, shown to clients and used during outages. */
  left: number;
  leftAt: number;
  /** Until then the accounts service has no requests left for the workspace. */
  emptyUntil: number;
  /** Requests admitted during an outage, to be repaid from the next grants. */
  debt: number;
  /** When the newest known answer was asked for. */
  sentAt: number;
}

/** One answer of the accounts service about a workspace. */
export interface BudgetAnswer {
  readonly quota: number;
  readonly granted: number;
  /** Part of `granted` that must not repay debt. */
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

/** Adds a grant. It repays the requests of an outage first, so that an outage never raises the limit. */
export function addAnswer(budget: WorkspaceBudget, answer: BudgetAnswer, now: number): void {
  const repaid = Math.min(budget.debt, Math.max(0, answer.granted - answer.kept));
  budget.debt -= repaid;
  budget.prepaid += answer.granted - repaid;
  if (answer.granted > 0) {
    budget.prepaidAt = Math.max(budget.prepaidAt, answer.sentAt);
    budget.source = answer.source;
  }
  // Answers may arrive out of order: an older answer does not say how many requests are left now.
  if (answer.sentAt < budget.sentAt) return;
  budget.sentAt = answer.sentAt;
  budget.quota = answer.quota;
  budget.left = answer.remaining;
  budget.leftAt = now;
  budget.emptyUntil = answer.remaining > 0 ? 0 : now + answer.emptyForMs;
}

/** Uses one granted request. Returns false when none is left. */
export function spendPrepaid(budget: WorkspaceBudget): boolean {
  if (budget.prepaid < 1) return false;
  budget.prepaid -= 1;
  return true;
}

function estimatedLeft({ left, leftAt, quota }: WorkspaceBudget, now: number): number {
  return tokensAt({ tokens: left, at: leftAt }, { capacity: quota, windowMs: WINDOW_MS }, now);
}

/**
 * Used during outages of the accounts service: takes one of the requests that the workspace had left, refilled at its
 * own rate. Returns false when none is left.
 */
export function spendOnCredit(budget: WorkspaceBudget, now: number): boolean {
  budget.left = estimatedLeft(budget, now);
  budget.leftAt = now;
  if (budget.left < 1) return false;
  budget.left -= 1;
  budget.debt += 1;
  return true;
}

/** Removes up to `count` granted requests, by default all, and returns how many. */
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

/** Seconds, at least 1, until the accounts service may grant another request. */
export function retryAfterSeconds(budget: WorkspaceBudget, now: number): number {
  return Math.max(1, Math.ceil((budget.emptyUntil - now) / 1000));
}
