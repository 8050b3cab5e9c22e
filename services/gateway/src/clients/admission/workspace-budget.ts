import { msUntilTokens, tokensAt } from "@postrider/shared/limits/token-bucket";
import type { RateLimitState } from "#src/domain/admission.ts";

const WINDOW_MS = 60_000;

/** What accounts is asked about: requests are granted to it and given back by it. */
export interface AdmissionSource {
  /** Names the pair of key and workspace. */
  readonly slot: string;
  readonly key: string;
  /** SHA-256. */
  readonly keyHash: Uint8Array;
  /** As the request named it; undefined = the key's only one. */
  readonly workspaceId: string | undefined;
}

/** What one workspace may still do through this process. */
export interface WorkspaceBudget {
  readonly workspaceId: string;
  /** Requests per minute, which is also the burst. */
  quota: number;
  /** Granted and not yet spent. Nothing else is ever spent while accounts answers. */
  prepaid: number;
  /** When the grant that `prepaid` comes from was asked for. */
  prepaidAt: number;
  source: AdmissionSource;
  /** What accounts had left at `leftAt`; an estimate, for the client's information and for outages. */
  left: number;
  leftAt: number;
  /** Until then accounts is known to have nothing. */
  emptyUntil: number;
  /** Requests let through in an outage; repaid from the next grants. */
  debt: number;
  /** When the newest answer that is known was asked for. */
  askedAt: number;
}

/** One answer of accounts about a workspace. */
export interface BudgetAnswer {
  readonly quota: number;
  readonly granted: number;
  /** How much of it no debt may take. */
  readonly kept: number;
  readonly remaining: number;
  readonly emptyForMs: number;
  readonly source: AdmissionSource;
  readonly askedAt: number;
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
    askedAt: -Infinity,
  };
}

/** Adds what was granted. What was let through in an outage is paid first, so that no outage raises the limit. */
export function addAnswer(budget: WorkspaceBudget, answer: BudgetAnswer, now: number): void {
  const repaid = Math.min(budget.debt, Math.max(0, answer.granted - answer.kept));
  budget.debt -= repaid;
  budget.prepaid += answer.granted - repaid;
  if (answer.granted > 0) {
    budget.prepaidAt = Math.max(budget.prepaidAt, answer.askedAt);
    budget.source = answer.source;
  }
  // Answers may overtake each other: an older one knows less about what is left.
  if (answer.askedAt < budget.askedAt) return;
  budget.askedAt = answer.askedAt;
  budget.quota = answer.quota;
  budget.left = answer.remaining;
  budget.leftAt = now;
  budget.emptyUntil = answer.remaining > 0 ? 0 : now + answer.emptyForMs;
}

/** Spends one granted request, if there is one. */
export function spendPrepaid(budget: WorkspaceBudget): boolean {
  if (budget.prepaid < 1) return false;
  budget.prepaid -= 1;
  return true;
}

function sizeOf({ quota }: WorkspaceBudget) {
  return { capacity: quota, windowMs: WINDOW_MS };
}

function estimatedLeft(budget: WorkspaceBudget, now: number): number {
  return tokensAt({ tokens: budget.left, at: budget.leftAt }, sizeOf(budget), now);
}

/** Only while accounts does not answer: goes on from what was left there, at the workspace's own rate. */
export function spendOnCredit(budget: WorkspaceBudget, now: number): boolean {
  budget.left = estimatedLeft(budget, now);
  budget.leftAt = now;
  if (budget.left < 1) return false;
  budget.left -= 1;
  budget.debt += 1;
  return true;
}

/** Takes up to `count` granted requests out, all of them by default. */
export function takePrepaid(budget: WorkspaceBudget, count = budget.prepaid): number {
  const taken = Math.min(count, budget.prepaid);
  budget.prepaid -= taken;
  return taken;
}

export function rateLimitOf(budget: WorkspaceBudget, now: number): RateLimitState {
  const { quota, prepaid } = budget;
  const left = now < budget.emptyUntil ? 0 : estimatedLeft(budget, now);
  const remaining = Math.min(quota, Math.max(0, Math.floor(left + prepaid)));
  const resetSeconds = Math.ceil(msUntilTokens(remaining, quota, sizeOf(budget)) / 1000);
  return { policy: "workspace", quota, windowSeconds: 60, remaining, resetSeconds };
}

/** Seconds, at least 1, until one more request may be there. */
export function retryAfterSeconds(budget: WorkspaceBudget, now: number): number {
  return Math.max(1, Math.ceil((budget.emptyUntil - now) / 1000));
}
