import type { ISql, TransactionSql } from "@postrider/shared/postgres";
import { placesOfWorkspace } from "#src/calls/table.ts";
import type { ClaimLimits } from "./claim-limits.ts";
import { heldPlatforms } from "./platform-breakers.ts";
import { queueFloors, type TaskFloors } from "./task-floors.ts";

export interface QueueLimits extends ClaimLimits {
  /** Platforms for which this version of the delivery service has a connector. */
  readonly platforms: readonly string[];
  /** At their maximum in this process; no more of their tasks are claimed. */
  readonly busyWorkspaces?: readonly string[];
  /** The claim reads no entries below these search floors; null: it reads all due queues. */
  readonly floors: TaskFloors | null;
}

/** Maximum number of due accounts of one platform that a claim considers, to bound its time. */
const MAX_DUE_ACCOUNTS = 10_000;
/**
 * Of one workspace while no other one has due tasks on the platform, as a multiple of the places.
 */
const PLACES_WHILE_ALONE = 3;
/**
 * How long claims skip an account whose due tasks cannot be claimed for a time that is not known: a
 * suspect waits, say, for another suspect of this process.
 */
const RECHECK_MS = 200;

/** A task is in work before and in its publishing call, and while its post is searched for. */
function isInWork(sql: ISql) {
  return sql`
    status in ('working', 'calling', 'reconciling') and wake_at > now()`;
}

/** Selects the platforms without an operator's pause or a hold. */
export function openPlatforms(sql: ISql, platforms: readonly string[]) {
  return sql`
    select platform
    from unnest(${platforms as string[]}::text[]) as p(platform)
    where platform not in (select key from pauses where kind = 'platform')
    and platform not in (${heldPlatforms(sql)})`;
}

/** For a row with `account_id` and `workspace_id`. */
export function isUnpaused(sql: ISql) {
  return sql`
    account_id::text not in (select key from pauses where kind = 'account')
    and workspace_id::text not in (select key from pauses where kind in ('workspace', 'deletion', 'move'))`;
}

/**
 * Tasks in work, their number by workspace and platform, and who is full. What a workspace has in
 * work beyond its share, because it was alone, takes no place from the others: they never wait for
 * its calls.
 */
function placesInUse(sql: ISql, { maxPerPlatform }: QueueLimits) {
  return sql`
    working as materialized (
      select account_id, platform, workspace_id
      from publish_tasks
      where ${isInWork(sql)}
    ),
    in_work as materialized (
      select platform, workspace_id, count(*) as tasks, least(count(*), ${placesOfWorkspace(maxPerPlatform)}) as places
      from working
      group by platform, workspace_id
    ),
    full_platforms as materialized (
      select platform
      from in_work
      group by platform
      having sum(places) >= ${maxPerPlatform}
    ),
    full_workspaces as materialized (
      select platform, workspace_id
      from in_work
      where tasks >= ${PLACES_WHILE_ALONE * maxPerPlatform}
    )`;
}

/** SQL condition on an account queue: its workspace may have one more publish task in work. */
function hasPlace(sql: ISql, { busyWorkspaces = [] }: QueueLimits) {
  return sql`
    (platform, workspace_id) not in (select platform, workspace_id from full_workspaces)
    and workspace_id <> all(${busyWorkspaces as string[]}::uuid[])`;
}

/**
 * Accounts with a task to publish, or with an unknown outcome to search for. Each platform has its
 * own subquery, so that the backlog of a paused or full platform is not read.
 */
function dueAccounts(sql: ISql, limits: QueueLimits) {
  const { platforms, floors } = limits;
  return sql`
    select q.account_id, q.workspace_id, q.platform, q.wake_at
    from (${openPlatforms(sql, platforms)}) as o
    join (${queueFloors(sql, platforms, floors)}) as f on f.platform = o.platform
    cross join lateral (
      select account_id, workspace_id, platform, publish_at as wake_at
      from account_queues
      where platform = o.platform
      and publish_at between f.publish_from and now()
      and ${isUnpaused(sql)}
      and ${hasPlace(sql, limits)}
      order by publish_at
      limit ${MAX_DUE_ACCOUNTS}
    ) as q
    where o.platform not in (select platform from full_platforms)
    union all
    select q.account_id, q.workspace_id, q.platform, q.wake_at
    from (${queueFloors(sql, platforms, floors)}) as p
    cross join lateral (
      select account_id, workspace_id, platform, look_at as wake_at
      from account_queues
      where platform = p.platform
      and look_at between p.look_from and now()
      and ${hasPlace(sql, limits)}
      order by look_at
      limit ${MAX_DUE_ACCOUNTS}
    ) as q
    where p.platform not in (select platform from full_platforms)`;
}

/**
 * The task queues of `queues`, which are due and locked. On each platform, the workspaces with the
 * fewest tasks in work come first, and among equals the accounts that have waited longest.
 */
export function dueQueues(sql: ISql, limits: QueueLimits) {
  const { limit, maxPerPlatform } = limits;
  return sql`
    ${placesInUse(sql, limits)},
    due as (
      select account_id, workspace_id, platform, min(wake_at) as wake_at
      from (${dueAccounts(sql, limits)}) as d
      group by account_id, workspace_id, platform
    ),
    used_alone as (
      select platform
      from due
      group by platform
      having count(distinct workspace_id) = 1
    ),
    in_turn as (
      select d.account_id, d.platform, d.wake_at,
        coalesce(w.tasks, 0) + row_number() over (partition by d.platform, d.workspace_id order by d.wake_at) as turn
      from due d
      left join in_work w on w.platform = d.platform and w.workspace_id = d.workspace_id
    ),
    chosen as (
      select account_id, platform, wake_at, turn,
        row_number() over (partition by platform order by turn, wake_at) as place
      from in_turn
      where turn <= case
        when platform in (select platform from used_alone) then ${PLACES_WHILE_ALONE * maxPerPlatform}::int
        else ${placesOfWorkspace(maxPerPlatform)}::int
      end
    ),
    -- A concurrent transaction that changes tasks of a locked queue waits for the lock, and then makes the queue due again.
    -- So the change of that transaction is not lost. Locked queues are skipped, so that a claim never waits. Postgres checks
    -- the times again under the lock: a claim of another process that this statement does not see has raised them.
    queues as materialized (
      select q.account_id, q.workspace_id, q.platform
      from chosen c
      join account_queues q on q.account_id = c.account_id
      where c.place + coalesce((select sum(places) from in_work w where w.platform = c.platform), 0) <= ${maxPerPlatform}
      and least(q.publish_at, q.look_at) <= now()
      order by c.turn, c.wake_at
      limit ${limit}
      for update of q skip locked
    )`;
}

/**
 * For locked queues without a task to claim. A statement after the locking one, so that it sees
 * every task committed before the lock.
 */
export async function scheduleAccounts(
  tx: TransactionSql,
  accountIds: readonly string[],
): Promise<void> {
  const firstOf = (status: ReturnType<typeof tx>) => tx`
    (select min(wake_at) from publish_tasks t where t.account_id = q.account_id and t.status = ${status})`;
  await tx`
    update account_queues q
    set publish_at = case
        when n.busy_until is not null then n.busy_until
        when n.publish_at <= now() then greatest(n.recheck_at, (
          select g.not_before
          from account_breakers g
          where g.account_id = n.account_id
        ))
        else n.publish_at
      end,
      look_at = case
        when n.busy_until is not null then n.busy_until
        when n.look_at <= now() then n.recheck_at
        else n.look_at
      end
    from (
      select q.account_id,
        (select min(wake_at) from publish_tasks t where t.account_id = q.account_id and ${isInWork(tx)}) as busy_until,
        least(${firstOf(tx`'queued'`)}, ${firstOf(tx`'working'`)}) as publish_at,
        least(${firstOf(tx`'unknown'`)}, ${firstOf(tx`'reconciling'`)}) as look_at,
        now() + ${RECHECK_MS} * interval '1 millisecond' as recheck_at
      from unnest(${accountIds as string[]}::uuid[]) as q(account_id)
    ) as n
    where q.account_id = n.account_id`;
}
