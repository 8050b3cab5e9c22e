import type { ISql, SqlFragment, TransactionSql } from "@postrider/shared/postgres";
import { placesOfWorkspace } from "./table.ts";

/**
 * Maximum number of due accounts of one platform that a claim reads in the order of their times, to
 * bound its time.
 */
const MAX_DUE_ACCOUNTS = 1_000;
/** Maximum number of workspaces of one platform whose first due accounts a claim reads besides. */
const MAX_WORKSPACES = 500;

export interface DueQueueLimits {
  /** Platforms for which this process has a connector. */
  readonly platforms: readonly string[];
  readonly maxAccounts: number;
  /** Maximum number of calls of one platform in work at a time, over all processes. */
  readonly maxPerPlatform: number;
  /** The claim reads no entries below this search floor; null: it reads all due queues. */
  readonly since?: Date | null;
}

function isDue(sql: ISql, { since = null }: DueQueueLimits) {
  return sql`wake_at between coalesce(${since}::timestamptz, '-infinity') and now()`;
}

/**
 * The accounts that have waited for longest. Each platform has its own subquery, so that the
 * backlog of a full platform is not read.
 */
function oldestAccounts(sql: ISql, queues: SqlFragment, limits: DueQueueLimits) {
  return sql`
    select d.account_id, d.workspace_id, d.wake_at, p.platform
    from of_platforms p
    cross join lateral (
      select account_id, workspace_id, wake_at
      from ${queues}
      where platform = p.platform
      and ${isDue(sql, limits)}
      and workspace_id not in (
        select workspace_id
        from in_work
        where platform = p.platform
        and calls >= ${placesOfWorkspace(limits.maxPerPlatform)}
      )
      order by wake_at
      limit ${MAX_DUE_ACCOUNTS}
    ) as d
    where p.calls < ${limits.maxPerPlatform}`;
}

/**
 * Of platforms with more due accounts than were read: the workspaces with waiting accounts, so that
 * the many accounts of one do not hide those of the others. One step reads one row.
 */
function visitedWorkspaces(sql: ISql, queues: SqlFragment) {
  return sql`
    select platform, '00000000-0000-0000-0000-000000000000'::uuid as workspace_id, 0 as step
    from oldest
    group by platform
    having count(*) = ${MAX_DUE_ACCOUNTS}
    union all
    select platform, (
        select workspace_id
        from ${queues}
        where platform = visited.platform
        and wake_at is not null
        and workspace_id > visited.workspace_id
        order by workspace_id
        limit 1
      ), step + 1
    from visited
    where workspace_id is not null
    and step < ${MAX_WORKSPACES}`;
}

function firstOfWorkspaces(sql: ISql, queues: SqlFragment, limits: DueQueueLimits) {
  return sql`
    select d.account_id, v.workspace_id, d.wake_at, v.platform
    from visited v
    cross join lateral (
      select account_id, wake_at
      from ${queues}
      where platform = v.platform
      and workspace_id = v.workspace_id
      and ${isDue(sql, limits)}
      order by wake_at
      limit ${placesOfWorkspace(limits.maxPerPlatform)}
    ) as d`;
}

/**
 * Locks the queues of due accounts and returns their ids. Full platforms and workspaces are
 * skipped, and the workspaces with the fewest calls in work come first.
 *
 * @param queues A table with one row per account, and with the time of the next look, `wake_at`.
 * @param working The table and the condition of calls in work, or whose lease ended there.
 */
export async function lockDueQueues(
  tx: TransactionSql,
  { queues, working }: { readonly queues: SqlFragment; readonly working: SqlFragment },
  limits: DueQueueLimits,
): Promise<readonly string[]> {
  const { platforms, maxAccounts, maxPerPlatform } = limits;
  // A concurrent transaction that changes calls of a locked queue waits for the lock, and then
  // makes the queue due again. So no change is overlooked. Locked queues are skipped, so that a
  // claim never waits.
  const rows = await tx<{ accountId: string }[]>`
    with recursive in_work as materialized (
      select platform, workspace_id, count(*) as calls
      from ${working}
      and wake_at > now()
      group by platform, workspace_id
    ),
    of_platforms as materialized (
      select p.platform, coalesce(sum(w.calls), 0) as calls
      from unnest(${platforms as string[]}::text[]) as p(platform)
      left join in_work w on w.platform = p.platform
      group by p.platform
    ),
    oldest as materialized (${oldestAccounts(tx, queues, limits)}),
    visited as (${visitedWorkspaces(tx, queues)}),
    due as (
      select account_id, workspace_id, wake_at, platform
      from oldest
      union
      ${firstOfWorkspaces(tx, queues, limits)}
    ),
    in_turn as (
      select d.account_id, d.wake_at, p.platform, p.calls as of_platform,
        coalesce(w.calls, 0) + row_number() over (partition by p.platform, d.workspace_id order by d.wake_at) as turn
      from due d
      join of_platforms p on p.platform = d.platform
      left join in_work w on w.platform = p.platform and w.workspace_id = d.workspace_id
    ),
    chosen as (
      select account_id, turn, wake_at,
        of_platform + row_number() over (partition by platform order by turn, wake_at) as place
      from in_turn
      where turn <= ${placesOfWorkspace(maxPerPlatform)}
    )
    select q.account_id
    from chosen c
    join ${queues} q on q.account_id = c.account_id
    where c.place <= ${maxPerPlatform}
    and q.wake_at <= now()
    order by c.turn, c.wake_at
    limit ${maxAccounts}
    for update of q skip locked`;
  return rows.map(({ accountId }) => accountId);
}
