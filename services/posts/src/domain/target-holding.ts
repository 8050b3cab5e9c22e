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
  /** The UTC day whose quota it counts in; null while it counts in none. */
  readonly dueDay: string | null;
  /** Null for a draft, which guards nothing. */
  readonly contentHash: string | null;
}

/** How much of its counters a target takes. */
export interface QuotaShare {
  readonly used: number;
  readonly reserved: number;
}

const NOTHING: QuotaShare = { used: 0, reserved: 0 };
const RESERVED: QuotaShare = { used: 0, reserved: 1 };
const USED: QuotaShare = { used: 1, reserved: 0 };
const GUARD_MS = 24 * 3_600_000;

/** An open target reserves quota; one that is or may be published has used it, even after its deletion. */
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

/** What a target takes from each of its counters. */
export function quotaShare(target: HoldingTarget): QuotaShare {
  if (target.dueDay === null) return NOTHING;
  return isUnknown(target) ? USED : SHARES[target.status];
}

/** The counters of a target, by subject and period: its month, and its day where the platform limits days. */
export function quotaKeys(target: HoldingTarget): { subject: string; period: string }[] {
  const { workspaceId, accountId, platform, dueDay } = target;
  if (dueDay === null) return [];
  const at = new Date(dueDay);
  // Only the keys are used: what a target already holds moves regardless of limits.
  const limits = { monthly: 0, daily: null };
  const month = monthlyCounter(workspaceId, at, limits);
  const day = dailyCounter({ accountId, platform }, at, limits);
  return [month, ...(day === undefined ? [] : [day])].map(({ subject, period }) => ({
    subject,
    period,
  }));
}

/**
 * Until when a target keeps other targets of its account from publishing the same content: null while it is open,
 * undefined when it does not.
 */
export function guardedUntil(target: HoldingTarget): Date | null | undefined {
  const { status, publishedAt, contentHash } = target;
  if (contentHash === null) return undefined;
  if (status === "pending" || status === "publishing" || isUnknown(target)) return null;
  if (status === "published" && publishedAt !== null)
    return new Date(publishedAt.getTime() + GUARD_MS);
  return undefined;
}
