import type { TargetStatus } from "./post-status.ts";
import { dailyCounter, monthlyCounter } from "./quota.ts";

/** The error because of which a target failed or waits. */
export interface TargetError {
  readonly code: string;
  readonly message: string;
  /** Whether a retry of the target can succeed without a change by the user. */
  readonly retryable: boolean;
}

/**
 * The state of a target, as the delivery service reports it. Each update is complete, so the newest update replaces all
 * others.
 */
export interface TargetUpdate {
  readonly generation: number;
  /** A number that rises with every change of the publish task. Versions are compared only within one generation. */
  readonly version: number;
  readonly status: "publishing" | "published" | "failed";
  readonly externalId: string | null;
  readonly permalink: string | null;
  readonly publishedAt: Date | null;
  readonly error: TargetError | null;
  /** The number of attempts to publish the target so far, over all generations. */
  readonly attemptCount: number;
  readonly nextAttemptAt: Date | null;
}

/** The fields of a target that a target update can change. */
export interface TargetState {
  readonly status: TargetStatus;
  /** The number of requests to publish the target so far. */
  readonly generation: number;
  /** Generation and version of the last target update that was applied; 0 before the first update. */
  readonly taskGeneration: number;
  readonly taskVersion: number;
  readonly externalId: string | null;
  readonly permalink: string | null;
  readonly publishedAt: Date | null;
  readonly error: TargetError | null;
  readonly attemptCount: number;
  readonly nextAttemptAt: Date | null;
}

/**
 * The updates that a target accepts, by its status. `published` is final; a later update only adds to it (a permalink, a
 * second id). A failed target may turn out to be undecided or published.
 */
const ACCEPTED = {
  pending: ["publishing", "published", "failed"],
  publishing: ["publishing", "published", "failed"],
  published: ["published"],
  failed: ["publishing", "published", "failed"],
  deleting: [],
  deleted: [],
  delete_failed: [],
  // The delivery service has promised not to publish a cancelled target; if the target is published nevertheless, it
  // has to be deleted.
  cancelled: ["published"],
} satisfies Record<TargetStatus, readonly TargetUpdate["status"][]>;

function isNewer(target: TargetState, update: TargetUpdate): boolean {
  if (update.generation !== target.taskGeneration) return update.generation > target.taskGeneration;
  return update.version > target.taskVersion;
}

function applies(target: TargetState, update: TargetUpdate): boolean {
  const accepted: readonly TargetUpdate["status"][] = ACCEPTED[target.status];
  if (!accepted.includes(update.status)) return false;
  // An update that reports a success is applied at any time and from any generation of the target.
  if (update.status === "published" && target.status !== "published") return true;
  // An update with any other status is applied only from the current generation of the target.
  const counts = update.status === "published" || update.generation === target.generation;
  return counts && isNewer(target, update);
}

/**
 * Applies an update to a target. Updates are ordered by (is published, generation, version) and the greatest wins, so
 * any order, repetition or gap before the newest gives the same state. Returns the same object when nothing changes.
 */
export function applyTargetUpdate<T extends TargetState>(target: T, update: TargetUpdate): T {
  const attemptCount = Math.max(target.attemptCount, update.attemptCount);
  if (!applies(target, update)) {
    return attemptCount === target.attemptCount ? target : { ...target, attemptCount };
  }
  return {
    ...target,
    status: update.status,
    taskGeneration: update.generation,
    taskVersion: update.version,
    externalId: update.externalId,
    permalink: update.permalink,
    publishedAt: update.publishedAt,
    error: update.error,
    attemptCount,
    nextAttemptAt: update.nextAttemptAt,
  };
}

/** Whether a reader sees a difference between two states of a target of a publishing post. */
export function isVisiblyDifferent(before: TargetState, after: TargetState): boolean {
  const shown = (state: TargetState) =>
    JSON.stringify([
      state.status === "pending" ? "publishing" : state.status,
      state.externalId,
      state.permalink,
      state.publishedAt,
      state.error?.code,
      state.error?.message,
      state.error?.retryable,
      state.attemptCount,
      state.nextAttemptAt,
    ]);
  return shown(before) !== shown(after);
}

/** The due time and the deadline of a target, which a retry replaces. */
interface DueState {
  readonly dueAt: Date | null;
  readonly publishBefore: Date | null;
  readonly dueDay: string | null;
}

/**
 * Whether a target may be published again, because it failed for certain. A target whose outcome is unknown may already be
 * published.
 */
export function isRetryable({ status, error }: Pick<TargetState, "status" | "error">): boolean {
  return status === "failed" && error?.code !== "outcome_unknown";
}

/** Returns a failed target at its next generation, pending again. The number of its attempts continues. */
export function retryTarget<T extends TargetState & DueState>(
  target: T,
  { dueAt, publishBefore, dueDay }: DueState,
): T {
  return {
    ...target,
    status: "pending",
    generation: target.generation + 1,
    error: null,
    nextAttemptAt: null,
    dueAt,
    publishBefore,
    dueDay,
  };
}

/** Returns the time at which the first of the targets was published; null when no target was published. */
export function firstPublishedAt(
  targets: readonly Pick<TargetState, "publishedAt">[],
): Date | null {
  const times = targets.flatMap(({ publishedAt }) => publishedAt?.getTime() ?? []);
  return times.length === 0 ? null : new Date(Math.min(...times));
}

/** The part of a target on which its quota and its duplicate guard depend. */
export interface HoldingTarget {
  readonly id: string;
  readonly workspaceId: string;
  readonly accountId: string;
  readonly platform: string;
  readonly status: TargetStatus;
  readonly error: { readonly code: string } | null;
  readonly publishedAt: Date | null;
  /** The UTC day on whose quota the target counts; null while the target counts on no quota. */
  readonly dueDay: string | null;
  /** Hash of the content that the duplicate guard compares; null for a draft, which has no guard. */
  readonly contentHash: string | null;
}

/** The amounts by which a target counts on each of its quota counters. */
export interface QuotaShare {
  readonly used: number;
  readonly reserved: number;
}

const NOTHING: QuotaShare = { used: 0, reserved: 0 };
const RESERVED: QuotaShare = { used: 0, reserved: 1 };
const USED: QuotaShare = { used: 1, reserved: 0 };
const GUARD_MS = 24 * 3_600_000;

/**
 * The quota share of a target by status. An open target reserves quota; a target that is or may be published has used
 * quota, even after its deletion.
 */
const SHARES = {
  pending: RESERVED,
  publishing: RESERVED,
  published: USED,
  failed: NOTHING,
  deleting: USED,
  deleted: USED,
  delete_failed: USED,
  cancelled: NOTHING,
} satisfies Record<TargetStatus, QuotaShare>;

function isUnknown({ status, error }: HoldingTarget): boolean {
  return status === "failed" && error?.code === "outcome_unknown";
}

/** Returns the amounts by which a target counts on each of its quota counters. */
export function quotaShare(target: HoldingTarget): QuotaShare {
  if (target.dueDay === null) return NOTHING;
  return isUnknown(target) ? USED : SHARES[target.status];
}

/**
 * Returns the keys of a target's quota counters: the counter of its month and, if its platform has a daily limit, of
 * its day.
 */
export function quotaKeys(target: HoldingTarget): { subject: string; period: string }[] {
  const { workspaceId, accountId, platform, dueDay } = target;
  if (dueDay === null) return [];
  const at = new Date(dueDay);
  // Only the keys of the quota counters are used, because quota that a target already has is moved regardless of
  // limits.
  const limits = { monthly: 0, daily: null };
  const month = monthlyCounter(workspaceId, at, limits);
  const day = dailyCounter({ accountId, platform }, at, limits);
  return [month, ...(day === undefined ? [] : [day])].map(({ subject, period }) => ({
    subject,
    period,
  }));
}

/**
 * Returns the time until which a target keeps other targets of its account from publishing the same content: null while its
 * outcome is open, undefined if it does not block them.
 */
export function guardedUntil(target: HoldingTarget): Date | null | undefined {
  const { status, publishedAt, contentHash } = target;
  if (contentHash === null) return undefined;
  if (status === "pending" || status === "publishing" || isUnknown(target)) return null;
  if (status === "published" && publishedAt !== null)
    return new Date(publishedAt.getTime() + GUARD_MS);
  return undefined;
}
