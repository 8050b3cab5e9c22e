import { PLATFORM_IDS } from "@postrider/platforms/platform-id";
import type { ISql, TransactionSql } from "@postrider/shared/postgres";
import { lockDueQueues } from "#src/calls/due-queues.ts";
import { takeLocked } from "#src/calls/table.ts";
import { isInPlace } from "#src/db/data-place.ts";
import type { DeletionTask } from "#src/publishing/domain/deletion.ts";
import { type ClaimLimits, findNextWake, isAboveFloor, type NextWake } from "./claim-limits.ts";
import { DELETION_TABLE, deletionColumns } from "./deletions.ts";

interface DeletionLimits extends ClaimLimits {
  /** The claim reads no entries below this search floor; null: it reads all due queues. */
  readonly since: Date | null;
}

/** For ready deletions that were not claimed: another transaction has locked them, for example. */
const RECHECK_MS = 1_000;

/** Of each account whose queue is locked, unless it has a deletion in work or waits for a limit. */
async function claimHeads(
  tx: TransactionSql,
  accountIds: readonly string[],
  options: DeletionLimits,
): Promise<readonly DeletionTask[]> {
  return await tx<DeletionTask[]>`
    with heads as materialized (
      select h.target_id, h.deletion, h.wake_at
      from unnest(${accountIds as string[]}::uuid[]) as a(account_id)
      cross join lateral (
        select target_id, deletion, wake_at
        from deletion_tasks
        where account_id = a.account_id
        and status in ('queued', 'working')
        and wake_at <= now()
        order by wake_at
        limit 1
      ) as h
      where not exists (
        select 1
        from deletion_tasks
        where account_id = a.account_id
        and status = 'working'
        and wake_at > now()
      )
      and a.account_id not in (select account_id from account_breakers where not_before > now())
      -- No deletion is claimed in a copy of the data.
      and exists (select 1 from deployment d where ${isInPlace(tx)})
    ),
    taken as (
      select d.target_id, d.deletion
      from heads h
      join deletion_tasks d on d.target_id = h.target_id and d.deletion = h.deletion and d.wake_at = h.wake_at
      for update of d skip locked
    )
    ${takeLocked(tx, DELETION_TABLE, options)}
    returning ${deletionColumns(tx)}`;
}

/** A statement after the locking one, so that it sees every deletion committed before the lock. */
async function scheduleQueues(tx: TransactionSql, accountIds: readonly string[]): Promise<void> {
  await tx`
    update deletion_queues q
    set wake_at = case
        when n.busy_until is not null then n.busy_until
        when n.wake_at <= now() then greatest(now() + ${RECHECK_MS} * interval '1 millisecond', (
          select not_before
          from account_breakers
          where account_id = n.account_id
        ))
        else n.wake_at
      end
    from (
      select a.account_id,
        (
          select min(wake_at)
          from deletion_tasks
          where account_id = a.account_id
          and status in ('queued', 'working')
        ) as wake_at,
        (
          select min(wake_at)
          from deletion_tasks
          where account_id = a.account_id
          and status = 'working'
          and wake_at > now()
        ) as busy_until
      from unnest(${accountIds as string[]}::uuid[]) as a(account_id)
    ) as n
    where q.account_id = n.account_id`;
}

/**
 * At most one per account. An operator's pause stops publishing, but not deletions. `hasMore`:
 * another account can take the place of one without a deletion in the next claim.
 */
export async function claimDeletions(
  tx: TransactionSql,
  options: DeletionLimits,
): Promise<{ readonly tasks: readonly DeletionTask[]; readonly hasMore: boolean }> {
  const queues = tx`deletion_queues`;
  const working = tx`deletion_tasks where status = 'working'`;
  const limits = { ...options, platforms: PLATFORM_IDS, maxAccounts: options.limit };
  const accountIds = await lockDueQueues(tx, { queues, working }, limits);
  if (accountIds.length === 0) return { tasks: [], hasMore: false };
  const tasks = await claimHeads(tx, accountIds, options);
  await scheduleQueues(tx, accountIds);
  return { tasks, hasMore: true };
}

export async function findNextDeletion(sql: ISql, since: Date | null): Promise<NextWake> {
  const firstOfPlatforms = sql`
    unnest(${[...PLATFORM_IDS]}::text[]) as p(platform)
    cross join lateral (
      select wake_at
      from deletion_queues
      where platform = p.platform
      and ${isAboveFloor(sql, since)}
      order by wake_at
      limit 1
    ) as q
    where true`;
  return await findNextWake(sql, firstOfPlatforms, since);
}

/** SQL: whether a deletion may be ready now. */
export function isDeletionDue(sql: ISql, since: Date | null) {
  return sql`
    exists (
      select from deletion_queues
      where platform = any(${[...PLATFORM_IDS]}::text[])
      and wake_at <= now()
      and ${isAboveFloor(sql, since)}
    )`;
}

/**
 * Returns whether another target, of whichever workspace, published this post before on the same
 * account of the platform, and the post is not deleted. Its deletion is then refused.
 */
export async function isOfOtherTarget(
  sql: ISql,
  { targetId, externalId, platform }: DeletionTask,
  externalAccountId: string,
): Promise<boolean> {
  const owners = await sql`
    select 1
    from publish_tasks t
    join publish_tasks o on o.external_id = t.external_id and o.platform = t.platform
    where t.target_id = ${targetId}
    and t.status = 'published'
    and t.external_id = ${externalId}
    and t.platform = ${platform}
    and o.target_id <> t.target_id
    and o.status = 'published'
    and (o.account_id = t.account_id or o.external_account_id in (t.external_account_id, ${externalAccountId}))
    -- Telegram counts messages anew when a group becomes a supergroup: the same id in another chat is another post.
    and (o.platform <> 'telegram' or o.permalink is null or t.permalink is null or o.permalink = t.permalink)
    and (o.published_at, o.target_id) < (t.published_at, t.target_id)
    and not exists (
      select 1
      from deletion_tasks d
      where d.target_id = o.target_id
      and d.status = 'deleted'
    )
    limit 1`;
  return owners.length > 0;
}
