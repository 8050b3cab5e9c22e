import type { ISql } from "@postrider/shared/postgres";
import { INSTALLATION, type QuotaKey } from "#src/domain/quota.ts";
import { type HoldingTarget, quotaKeys, quotaShare, type QuotaShare } from "#src/domain/target.ts";

/** A quota counter in the database that differs from the quota of the counted targets. */
export interface QuotaDrift extends Omit<QuotaKey, "workspaceId"> {
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
    for (const key of quotaKeys(target).filter((each) => each.workspaceId === workspaceId)) {
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

/**
 * Finds counters of all workspaces together that are not the sum of those of the workspaces. What
 * removed workspaces used is expected nowhere else, so `used` may be higher.
 */
export async function findSharedDrift(sql: ISql): Promise<readonly object[]> {
  return await sql<object[]>`
    select subject, period, shared.used, shared.reserved, own.used as own_used, own.reserved as own_reserved
    from (select * from quota_usage where workspace_id = ${INSTALLATION}) as shared
    full join (
      select subject, period, sum(used)::int as used, sum(reserved)::int as reserved
      from quota_usage
      where workspace_id <> ${INSTALLATION}
      and subject in ('x', 'youtube')
      group by subject, period
    ) as own using (subject, period)
    where coalesce(shared.reserved, 0) <> coalesce(own.reserved, 0)
    or coalesce(shared.used, 0) < coalesce(own.used, 0)`;
}

function nameOf({ subject, period }: Omit<QuotaKey, "workspaceId">): string {
  return `${period}/${subject}`;
}

function shareOf(share: QuotaShare | undefined): QuotaShare {
  return { used: share?.used ?? 0, reserved: share?.reserved ?? 0 };
}

async function listCounters(sql: ISql, workspaceId: string) {
  return await sql<(QuotaKey & QuotaShare)[]>`
    select workspace_id, subject, period, used, reserved
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
