import type { ISql, Sql, SqlFragment, TransactionSql } from "@postrider/shared/postgres";
import { type DueQueueLimits, lockDueQueues } from "#src/calls/due-queues.ts";
import { placesOfWorkspace, releaseCalls, takeLocked } from "#src/calls/table.ts";
import type { CommentAction, LeasedAction } from "#src/engagement/domain/comment-action.ts";
import { wakeQueues } from "./action-queues.ts";
import { ACTION_TABLE } from "./action-table.ts";
import { actionColumns } from "./comment-actions.ts";
import { isBehindVisibility } from "./hidden-comments.ts";
import { isPaused, limitedUntil, recheckAt, scheduleQueues } from "./queue-schedule.ts";
import { isDoubtful, openCall } from "./restore-doubts.ts";

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

/** Number of ready actions that a claim reads for each place of an account. */
const READ_PER_PLACE = 8;
/** A call whose outcome is unknown can end before its next search, by a late answer. */
const MAX_REST_MINUTES = 5;

/**
 * Until when action `t` may not be called, because of another action on its comment; null if it
 * may. A call whose outcome is unknown stays open at least until it is searched for.
 */
function blockedUntil(sql: ISql) {
  return sql`
    coalesce(
      (
        select max(greatest(${recheckAt(sql)}, case
            when e.status = 'unknown' then least(e.wake_at, now() + ${MAX_REST_MINUTES} * interval '1 minute')
          end))
        ${openCall(sql)}
      ),
      case when ${isBehindVisibility(sql, sql`t.external_account_id`)} then ${recheckAt(sql)} end
    )`;
}

/** Of the account of slot `s`, those that have waited longest. */
function oldestReady(sql: ISql, which: SqlFragment) {
  return sql`
    select t.id, t.status, t.wake_at, t.type = 'private_reply' as is_automatic,
      case when of.calls then ${blockedUntil(sql)} end as blocked_until
    from comment_actions t
    cross join deployment d
    where t.account_id = s.account_id
    and t.status = of.status
    and t.status in ('queued', 'working', 'unknown', 'reconciling')
    and ${which}
    and t.wake_at <= now()
    and not ${isDoubtful(sql)}
    order by t.wake_at
    limit s.free * of.read_per_place`;
}

/**
 * The ready actions that have waited longest, of all and of those that people requested, with
 * blocked ones among them. Their number is limited, because any number of actions can be blocked by
 * one. A paused account needs only searches, not calls.
 */
function firstReady(sql: ISql) {
  return sql`
    select s.account_id, s.workspace_id, s.platform, s.free, s.in_work, f.id, f.status, f.wake_at, f.is_automatic, f.blocked_until
    from slots s
    cross join (values ('unknown', 1, false), ('reconciling', 1, false), ('queued', ${READ_PER_PLACE}::int, true), ('working', ${READ_PER_PLACE}, true))
      as of(status, read_per_place, calls)
    cross join lateral (
      (${oldestReady(sql, sql`true`)})
      union
      (${oldestReady(sql, sql`t.type <> 'private_reply'`)})
    ) as f
    where s.may_call or not of.calls`;
}

/**
 * Of `ready`, as many as the places of their accounts and workspaces allow. What a person requested
 * does not wait behind private replies, of which a popular post can have more than a day's calls.
 */
function unblocked(sql: ISql, maxPerPlatform: number) {
  return sql`
    select id, status, wake_at
    from (
      select id, status, wake_at,
        in_work + row_number() over (partition by platform, workspace_id order by is_automatic, wake_at) as place
      from (
        select id, status, wake_at, is_automatic, platform, workspace_id, free, in_work,
          row_number() over (partition by account_id order by is_automatic, wake_at) as of_account
        from ready
        where blocked_until is null
      ) as h
      where of_account <= free
    ) as r
    where place <= ${placesOfWorkspace(maxPerPlatform)}`;
}
