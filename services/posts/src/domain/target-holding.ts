import type { TargetStatus } from "./post-status.ts";
import { dailyCounter, monthlyCounter } from "./quota.ts";

/** The part of a target that quota and the duplicate guard depend on. */
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
  /** Hash of the content for the duplicate guard; null for a draft, which has no guard. */
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

/** Returns the keys of a target's counters: the counter of its month and, if its platform has a daily limit, of its day. */
export function quotaKeys(target: HoldingTarget): { subject: string; period: string }[] {
  const { workspaceId, accountId, platform, dueDay } = target;
  if (dueDay === null) return [];
  const at = new Date(dueDay);
  // Only the keys of the counters are used, because quota that a target already has is moved regardless of limits.
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
