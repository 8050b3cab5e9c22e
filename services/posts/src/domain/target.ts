import type { TargetStatus } from "./post-status.ts";
import { dailyCounters, monthlyCounter, type QuotaKey } from "./quota.ts";

/** Why publishing failed, or was postponed to another attempt. */
export interface TargetError {
  readonly code: string;
  readonly message: string;
  /** Whether publishing again can succeed although the user changes nothing. */
  readonly retryable: boolean;
}

/** Each report is complete, so the newest replaces all others. */
export interface TargetUpdate {
  readonly generation: number;
  /** Rises with every report about one publish request; generations do not compare. */
  readonly version: number;
  readonly status: "publishing" | "published" | "failed";
  readonly externalId: string | null;
  readonly permalink: string | null;
  readonly publishedAt: Date | null;
  readonly error: TargetError | null;
  /** The number of attempts to publish the target so far, over all of its publish requests. */
  readonly attemptCount: number;
  readonly nextAttemptAt: Date | null;
}

export interface TargetState {
  readonly status: TargetStatus;
  /** How often the publishing of the target was requested. */
  readonly generation: number;
  /** The newest report that was applied; 0 before the first. */
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
 * `published` is final; a later report only adds to it. A failed target may later be reported as
 * undecided or published.
 */
const ACCEPTED = {
  pending: ["publishing", "published", "failed"],
  publishing: ["publishing", "published", "failed"],
  published: ["published"],
  failed: ["publishing", "published", "failed"],
  deleting: [],
  deleted: [],
  delete_failed: [],
  // The delivery service has promised not to publish a cancelled target. If the target is published
  // nevertheless, it has to be deleted on its platform.
  cancelled: ["published"],
} satisfies Record<TargetStatus, readonly TargetUpdate["status"][]>;

function isNewer(target: TargetState, update: TargetUpdate): boolean {
  if (update.generation !== target.taskGeneration) return update.generation > target.taskGeneration;
  return update.version > target.taskVersion;
}

function applies(target: TargetState, update: TargetUpdate): boolean {
  const accepted: readonly TargetUpdate["status"][] = ACCEPTED[target.status];
  if (!accepted.includes(update.status)) return false;
  // A report that a target was published is applied at any time and from any generation (publish
  // request) of the target.
  if (update.status === "published" && target.status !== "published") return true;
  // A report that does not say that the target was published is applied only if it is about the
  // current generation of the target (its newest publish request).
  const counts = update.status === "published" || update.generation === target.generation;
  return counts && isNewer(target, update);
}

/**
 * Reports may arrive late, twice or never: the greatest of (is published, generation, version)
 * decides. Returns the same object when nothing changes.
 */
export function applyTargetUpdate<T extends TargetState>(target: T, update: TargetUpdate): T {
  const attemptCount = Math.max(target.attemptCount, update.attemptCount);
  if (!applies(target, update))
    return attemptCount === target.attemptCount ? target : { ...target, attemptCount };

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

/** Whether the API shows a difference between two states of a target whose post is publishing. */
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

interface DueState {
  readonly dueAt: Date | null;
  readonly publishBefore: Date | null;
  readonly dueDay: string | null;
}

/** Every generation is kept as long as its post, and delivery reads all to decide about one. */
export const MAX_GENERATIONS = 100;

/** If its outcome is unknown, a target may be published, and a retry could publish it twice. */
export function isRetryable({
  status,
  error,
  generation,
}: Pick<TargetState, "status" | "error" | "generation">): boolean {
  const isKnown = error?.code !== "outcome_unknown";
  return status === "failed" && isKnown && generation < MAX_GENERATIONS;
}

/** Returns a failed target for its next generation; its count of attempts continues. */
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

export function firstPublishedAt(
  targets: readonly Pick<TargetState, "publishedAt">[],
): Date | null {
  const times = targets.flatMap(({ publishedAt }) => publishedAt?.getTime() ?? []);
  return times.length === 0 ? null : new Date(Math.min(...times));
}

export interface HoldingTarget {
  readonly id: string;
  readonly workspaceId: string;
  readonly accountId: string;
  readonly platform: string;
  readonly status: TargetStatus;
  readonly error: { readonly code: string } | null;
  readonly publishedAt: Date | null;
  /** The UTC day on which the target uses quota; null if it uses no quota. */
  readonly dueDay: string | null;
  /** Null for a draft, which has no guard. */
  readonly contentHash: string | null;
}

export interface QuotaShare {
  readonly used: number;
  readonly reserved: number;
}

const NOTHING: QuotaShare = { used: 0, reserved: 0 };
const RESERVED: QuotaShare = { used: 0, reserved: 1 };
const USED: QuotaShare = { used: 1, reserved: 0 };
const GUARD_MS = 24 * 3_600_000;

/** A target that is or may be published uses quota, even after its deletion. */
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

export function quotaShare(target: HoldingTarget): QuotaShare {
  if (target.dueDay === null) return NOTHING;
  return isUnknown(target) ? USED : SHARES[target.status];
}

export function quotaKeys(target: HoldingTarget): QuotaKey[] {
  const { workspaceId, dueDay } = target;
  if (dueDay === null) return [];
  const at = new Date(dueDay);
  // The key of a quota counter does not depend on the limits of the workspace, so no limits are
  // passed here.
  const limits = { monthly: 0, daily: null, highestDaily: null, hasOthers: false };
  const month = monthlyCounter(workspaceId, at, limits);
  return [month, ...dailyCounters(workspaceId, target, at, limits)];
}

/** Null as long as its outcome is open; undefined if it guards nothing. */
export function guardedUntil(target: HoldingTarget): Date | null | undefined {
  const { status, publishedAt, contentHash } = target;
  if (contentHash === null) return undefined;
  if (status === "pending" || status === "publishing" || isUnknown(target)) return null;
  if (status === "published" && publishedAt !== null)
    return new Date(publishedAt.getTime() + GUARD_MS);
  return undefined;
}
