import type { ISql, SqlFragment, TransactionSql } from "@postrider/shared/postgres";
import { placesOfWorkspace } from "./table.ts";

/** Maximum number of due accounts of one platform that a claim considers, to bound its time. */
const MAX_DUE_ACCOUNTS = 1_000;

export interface DueQueueLimits {
  /** Platforms for which this process has a connector. */
  readonly platforms: readonly string[];
  readonly maxAccounts: number;
  /** Maximum number of calls of one platform in work at a time, over all processes. */
  readonly maxPerPlatform: number;
  /** The claim reads no entries below this search floor; null: it reads all due queues. */
  readonly since?: Date | null;
}

/** Each platform has its own subquery, so that the backlog of a full platform is not read. */
function dueAccounts(
  sql: ISql,
  queues: SqlFragment,
  { maxPerPlatform, since = null }: DueQueueLimits,
) {
  return sql`
    select d.account_id, d.wake_at, p.platform, p.calls as of_platform,
      coalesce(w.calls, 0) + row_number() over (partition by p.platform, d.workspace_id order by d.wake_at) as turn
    from of_platforms p
    cross join lateral (
      select account_id, workspace_id, wake_at
      from ${queues}
      where platform = p.platform
      and wake_at between coalesce(${since}::timestamptz, '-infinity') and now()
      and workspace_id not in (
        select workspace_id
        from in_work
        where platform = p.platform
        and calls >= ${placesOfWorkspace(maxPerPlatform)}
      )
      order by wake_at
      limit ${MAX_DUE_ACCOUNTS}
    ) as d
    left join in_work w on w.platform = p.platform and w.workspace_id = d.workspace_id
    where p.calls < ${maxPerPlatform}`;
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
    with in_work as materialized (
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
    in_turn as (${dueAccounts(tx, queues, limits)}),
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
