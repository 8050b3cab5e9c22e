import type { ISql, Sql, TransactionSql } from "@postrider/shared/postgres";
import { type DueQueueLimits, lockDueQueues } from "#src/calls/due-queues.ts";
import { releaseCalls, takeLocked } from "#src/calls/table.ts";
import type { CommentAction, LeasedAction } from "#src/engagement/domain/comment-action.ts";
import { wakeQueues } from "./action-queues.ts";
import { ACTION_TABLE } from "./action-table.ts";
import { actionColumns } from "./comment-actions.ts";
import { limitedUntil, isPaused, scheduleQueues } from "./queue-schedule.ts";
import { firstReady, unblocked } from "./ready-actions.ts";

export interface ClaimedAction extends CommentAction {
  readonly claimedAt: Date;
}

export interface ActionLimits extends DueQueueLimits {
  /** For operators only; workers are told apart by the fence. */
  readonly owner: string;
  readonly leaseMs: number;
  readonly maxPerAccount: number;
}

/**
 * SQL of the milliseconds until the next claim can find something: an action that is ready, or a
 * call whose deadline has passed without an outcome. 0 or less means now; null means that no action
 * waits.
 */
export function nextActionMs(sql: ISql, platforms: readonly string[]) {
  return sql`
    select extract(epoch from least(
        (
          select min(q.wake_at)
          from unnest(${platforms as string[]}::text[]) as p(platform)
          cross join lateral (
            select wake_at
            from comment_action_queues
            where platform = p.platform
            and wake_at is not null
            order by wake_at
            limit 1
          ) as q
        ),
        (
          select min(wake_at)
          from comment_actions
          where status in ('working', 'calling', 'reconciling')
          and status = 'calling'
        )
      ) - now())::float8 * 1000 as wait_ms`;
}

export async function findNextActionMs(
  sql: ISql,
  platforms: readonly string[],
): Promise<number | null> {
  const [next] = await sql<[{ waitMs: number | null }]>`${nextActionMs(sql, platforms)}`;
  return next.waitMs;
}

/** Of accounts whose queues are locked: how many more actions may be claimed. */
function slots(tx: TransactionSql, accountIds: readonly string[], { maxPerAccount }: ActionLimits) {
  return tx`
    select q.account_id, q.workspace_id, q.platform,
      not exists (select 1 from pauses where ${isPaused(tx)}) as may_call,
      (
        select count(*)
        from comment_actions w
        where w.status in ('working', 'calling', 'reconciling')
        and w.wake_at > now()
        and w.platform = q.platform
        and w.workspace_id = q.workspace_id
      ) as in_work,
      greatest(0, ${maxPerAccount} - (
        select count(*)
        from comment_actions w
        where w.status in ('working', 'calling', 'reconciling')
        and w.wake_at > now()
        and w.account_id = q.account_id
      )) as free
    from comment_action_queues q
    where q.account_id in ${tx(accountIds)}
    and coalesce(greatest(q.not_before, ${limitedUntil(tx)}) <= now(), true)`;
}

/** Claims ready actions of the accounts whose queues this transaction has locked. */
async function claimOf(
  tx: TransactionSql,
  accountIds: readonly string[],
  limits: ActionLimits,
): Promise<readonly ClaimedAction[]> {
  // An action that another transaction is changing is skipped. Postgres compares status and time
  // again under the lock; conditions of their own would make it read every open action (`headTasks`
  // of the publish tasks).
  return await tx<ClaimedAction[]>`
    with slots as materialized (${slots(tx, accountIds, limits)}),
    ready as materialized (${firstReady(tx)}),
    taken as (
      select t.id
      from (${unblocked(tx, limits.maxPerPlatform)}) as h
      join comment_actions t on t.id = h.id and t.status = h.status and t.wake_at = h.wake_at
      for update of t skip locked
    ),
    -- The array makes Postgres look each of them up, however many actions it expects.
    blocked as (
      select t.id
      from comment_actions t
      join ready r on t.id = r.id and t.status = r.status and t.wake_at = r.wake_at
      where t.id = any(array(select id from ready where blocked_until is not null and status <> 'working'))
      for update of t skip locked
    ),
    -- So that the next claim reads the actions behind them.
    rested as (
      update comment_actions t
      set wake_at = r.blocked_until
      from ready r
      where t.id = any(array(select id from blocked))
      and t.id = r.id
    )
    ${takeLocked(tx, ACTION_TABLE, limits)}
    returning ${actionColumns(tx)}, now() as claimed_at`;
}

/**
 * Claims only make it rare that two workers work for one comment; the unique indexes of
 * `comment_actions` make it impossible to send an action twice.
 */
export async function claimActions(
  tx: TransactionSql,
  limits: ActionLimits,
): Promise<{ readonly actions: readonly ClaimedAction[]; readonly hasMore: boolean }> {
  const queues = tx`comment_action_queues`;
  const working = tx`comment_actions where status in ('working', 'calling', 'reconciling')`;
  const accountIds = await lockDueQueues(tx, { queues, working }, limits);
  if (accountIds.length === 0) return { actions: [], hasMore: false };
  const actions = await claimOf(tx, accountIds, limits);
  await scheduleQueues(tx, accountIds);
  return { actions, hasMore: accountIds.length === limits.maxAccounts };
}

export async function releaseAction(
  sql: Sql,
  action: LeasedAction,
  delayMs: number,
): Promise<void> {
  await sql.begin(async (tx) => {
    await releaseCalls(tx, ACTION_TABLE, [action], delayMs);
    await wakeQueues(tx, [action.id]);
  });
}
