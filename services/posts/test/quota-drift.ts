import type { ISql } from "@postrider/shared/postgres";
import { type HoldingTarget, quotaKeys, quotaShare, type QuotaShare } from "#src/domain/target.ts";

interface QuotaKey {
  readonly subject: string;
  readonly period: string;
}

/** A quota counter in the database that differs from the quota of the counted targets. */
export interface QuotaDrift extends QuotaKey {
  readonly held: QuotaShare;
  readonly expected: QuotaShare;
}

/**
 * Finds quota counters of a workspace that do not match its targets: `reserved` has to be the
 * number of targets without an outcome, `used` the number of targets that are or may be published.
 * Callers use one snapshot, or make sure that nothing changes meanwhile.
 */
export async function findQuotaDrift(sql: ISql, workspaceId: string): Promise<QuotaDrift[]> {
  const held = new Map<string, QuotaKey & QuotaShare>();
  for (const counter of await listCounters(sql, workspaceId)) held.set(nameOf(counter), counter);
  const expected = new Map<string, QuotaKey & QuotaShare>();
  for (const { count, ...target } of await listCountedTargets(sql, workspaceId)) {
    const share = quotaShare(target);
    for (const key of quotaKeys(target)) {
      const { used, reserved } = expected.get(nameOf(key)) ?? { used: 0, reserved: 0 };
      expected.set(nameOf(key), {
        ...key,
        used: used + count * share.used,
        reserved: reserved + count * share.reserved,
      });
    }
  }
  return [...new Map([...held, ...expected])].flatMap(([name, { subject, period }]) => {
    const drift = { held: shareOf(held.get(name)), expected: shareOf(expected.get(name)) };
    const isSame =
      drift.held.used === drift.expected.used && drift.held.reserved === drift.expected.reserved;
    return isSame ? [] : [{ subject, period, ...drift }];
  });
}

function nameOf({ subject, period }: QuotaKey): string {
  return `${period}/${subject}`;
}

function shareOf(share: QuotaShare | undefined): QuotaShare {
  return { used: share?.used ?? 0, reserved: share?.reserved ?? 0 };
}

async function listCounters(sql: ISql, workspaceId: string) {
  return await sql<(QuotaKey & QuotaShare)[]>`
    select subject, period, used, reserved
    from quota_usage
    where workspace_id = ${workspaceId}`;
}

/** Grouped by all fields that determine the quota. */
async function listCountedTargets(sql: ISql, workspaceId: string) {
  return await sql<(HoldingTarget & { readonly count: number })[]>`
    select
      min(id::text) as id, workspace_id, account_id, platform, status, due_day, null as published_at, null as content_hash,
      case when error_code = 'outcome_unknown' then json_build_object('code', error_code) end as error, count(*)
    from targets
    where workspace_id = ${workspaceId}
    and due_day is not null
    group by workspace_id, account_id, platform, status, due_day, error_code`;
}
