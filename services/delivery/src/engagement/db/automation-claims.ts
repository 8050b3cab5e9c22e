import type { ISql } from "@postrider/shared/postgres";
import type { PolledAccount } from "./automation-accounts.ts";
import { isUnlimited } from "./queue-schedule.ts";

function isPollDue(sql: ISql) {
  return sql`poll_at <= now() and lease_until <= now() and ${isUnlimited(sql)}`;
}

/** SQL: whether an account of the platforms may be claimed now. */
export function isAccountDue(sql: ISql, platforms: readonly string[]) {
  return sql`
    exists (
      select from automation_accounts
      where platform = any(${[...platforms]}::text[])
      and ${isPollDue(sql)}
    )`;
}

/** Limits the duration of a claim. */
const MAX_DUE = 1_000;
/** Of workspaces, and of the due accounts of each, that a claim reads besides. */
const [MAX_WORKSPACES, MAX_PER_WORKSPACE] = [500, 50];

/** Also accounts that are polled, because they count for the turns of their workspaces. */
function isWaiting(sql: ISql, platform: string) {
  return sql`
    platform = ${platform}
    and poll_at <= now()
    and poll_at < 'infinity'
    and (lease_until > now() or ${isUnlimited(sql)})`;
}

/**
 * SQL of the accounts that have waited for longest. If there are more, also those of each
 * workspace, so that the many accounts of one workspace do not hide those of the others. One step
 * of `visited` reads one row.
 */
function waitingAccounts(sql: ISql, platform: string) {
  const columns = sql`account_id, workspace_id, poll_at as due_at, lease_until > now() as is_polled`;
  return sql`
    oldest as materialized (
      select ${columns}
      from automation_accounts
      where ${isWaiting(sql, platform)}
      order by poll_at
      limit ${MAX_DUE}
    ),
    visited as (
      select '00000000-0000-0000-0000-000000000000'::uuid as workspace_id, 0 as step
      where (select count(*) from oldest) = ${MAX_DUE}
      union all
      select (
          select workspace_id
          from automation_accounts
          where platform = ${platform}
          and poll_at < 'infinity'
          and workspace_id > visited.workspace_id
          order by workspace_id
          limit 1
        ), step + 1
      from visited
      where workspace_id is not null
      and step < ${MAX_WORKSPACES}
    ),
    found as (
      select account_id, workspace_id, due_at, is_polled
      from oldest
      union
      select d.account_id, d.workspace_id, d.due_at, d.is_polled
      from visited
      cross join lateral (
        select ${columns}
        from automation_accounts
        where workspace_id = visited.workspace_id
        and ${isWaiting(sql, platform)}
        order by poll_at
        limit ${MAX_PER_WORKSPACE}
      ) as d
    )`;
}

/**
 * The workspaces with the fewest polls in progress come first, and of each, the accounts that have
 * waited for longest.
 */
export async function claimAccounts(
  sql: ISql,
  {
    platform,
    limit,
    leaseMs,
  }: { readonly platform: string; readonly limit: number; readonly leaseMs: number },
): Promise<readonly (PolledAccount & { readonly latenessMs: number })[]> {
  // An account that another transaction has locked is skipped, so that processes never wait for
  // each other. The conditions are checked again under the lock.
  return await sql<(PolledAccount & { latenessMs: number })[]>`
    with recursive ${waitingAccounts(sql, platform)},
    waiting as materialized (
      select account_id, due_at, is_polled,
        count(*) filter (where is_polled) over (partition by workspace_id)
          + row_number() over (partition by workspace_id, is_polled order by due_at) as turn
      from found
    ),
    due as materialized (
      select automation_accounts.account_id, poll_at
      from waiting w
      join automation_accounts on automation_accounts.account_id = w.account_id
      where not w.is_polled
      and ${isPollDue(sql)}
      order by w.turn, w.due_at
      limit ${limit}
      for no key update of automation_accounts skip locked
    )
    update automation_accounts a
    set fence = a.fence + 1,
      lease_until = now() + ${leaseMs} * interval '1 millisecond'
    from due
    where a.account_id = due.account_id
    returning a.account_id, a.workspace_id, a.platform, a.fence::int as fence, a.failures, a.media_cursor,
      now()::text as claimed_at,
      (extract(epoch from now() - due.poll_at) * 1000)::float8 as lateness_ms`;
}
