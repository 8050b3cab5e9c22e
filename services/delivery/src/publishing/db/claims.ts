import type { ISql, TransactionSql } from "@postrider/shared/postgres";
import { claimedStatus, takeLocked } from "#src/calls/table.ts";
import type { ClaimedTask, LeasedKey } from "#src/publishing/domain/task.ts";
import {
  dueQueues,
  isUnpaused,
  openPlatforms,
  type QueueLimits,
  scheduleAccounts,
} from "./account-queues.ts";
import { isDoubtful } from "./deployment.ts";
import { type BlockedAccount, restTasks, restUntil } from "./equal-calls.ts";
import { limitOfPlatform } from "./platform-limits.ts";
import { hasSibling, TASK_TABLE } from "./task-table.ts";
import { taskColumns } from "./tasks.ts";

interface ClaimOptions extends QueueLimits {
  /** After this many crashes of its process in a row, a task is a suspect. */
  readonly suspectAfter: number;
  readonly maxSuspects: number;
  /** Whether tasks are claimed whose lease ended while they were in work. */
  readonly mayTakeOver: boolean;
}

const MAY_BE_VISIBLE = ["working", "calling", "unknown", "reconciling"];

interface Claimed {
  readonly tasks: readonly ClaimedTask[];
  readonly hasMore: boolean;
}

/** How often in a row the process of task `t` crashed; a lease that ended in work is a crash. */
function crashes(sql: ISql) {
  return sql`
    t.crash_count + case when t.status in ('working', 'reconciling') then 1 else 0 end`;
}

/** Another generation may have begun attempts since the task was inserted. */
function latestAttempt(sql: ISql) {
  return sql`
    case
      when t.is_attempt_open then t.attempt_number
      else greatest(t.attempt_number, (select max(a.number) from publish_attempts a where a.target_id = t.target_id))
    end`;
}

/**
 * Of `queues`, those without a task in work. If an account's tasks may not be published, its
 * unknown outcomes are still searched for.
 */
function idleAccounts(sql: ISql, { platforms }: ClaimOptions) {
  return sql`
    select account_id,
      platform in (${openPlatforms(sql, platforms)})
        and ${isUnpaused(sql)}
        and not exists (select 1 from account_breakers g where g.account_id = q.account_id and g.not_before > now())
        as may_publish
    from queues q
    where account_id not in (select account_id from working)`;
}

/**
 * The oldest ready task of account `a` in status `s`, without tasks that a restore made uncertain.
 * A queued task waits while another generation of its target may be visible, because that
 * generation has to end first.
 */
function firstTask(sql: ISql, { suspectAfter, maxSuspects, mayTakeOver }: ClaimOptions) {
  return sql`
    select t.target_id, t.generation, t.status, t.wake_at, ${crashes(sql)} >= ${suspectAfter} as is_suspect,
      t.content_hash, ${restUntil(sql)} as rest_until
    from publish_tasks t
    cross join deployment d
    where t.account_id = a.account_id
    and t.status = s.status
    and t.status in ('queued', 'working', 'unknown', 'reconciling')
    and t.wake_at <= now()
    and not ${isDoubtful(sql)}
    and (${maxSuspects > 0} or ${crashes(sql)} < ${suspectAfter})
    and (${mayTakeOver} or t.status in ('queued', 'unknown'))
    and (t.status <> 'queued' or not ${hasSibling(sql, MAY_BE_VISIBLE)})
    order by t.wake_at
    limit 1`;
}

/** The task of each idle account that is claimed, locked as `taken`. */
function headTasks(sql: ISql, options: ClaimOptions) {
  return sql`
    heads as (
      select a.account_id, h.*, row_number() over (partition by h.is_suspect order by h.wake_at) as place
      from (${idleAccounts(sql, options)}) as a
      cross join lateral (
        select f.*
        from (values ('unknown', false), ('reconciling', false), ('queued', true), ('working', true))
          as s(status, publishes)
        cross join lateral (${firstTask(sql, options)}) as f
        where a.may_publish or not s.publishes
        order by f.wake_at
        limit 1
      ) as h
    ),
    -- A task that another transaction is changing is skipped, because that transaction may wait for the queue of its account.
    -- Postgres compares status and time again under the lock. They are those of the head, not conditions on their own, for
    -- which Postgres would read every open task through a partial index: its statistics, mostly of quiet times, say that
    -- there are few.
    taken as (
      select t.target_id, t.generation, t.wake_at
      from heads h
      join publish_tasks t on t.target_id = h.target_id and t.generation = h.generation
        and t.status = h.status and t.wake_at = h.wake_at
      where h.rest_until is null
      and (not h.is_suspect or h.place <= ${options.maxSuspects})
      for update of t skip locked
    )`;
}

function claimedColumns(sql: ISql) {
  return sql`
    ${taskColumns(sql)},
    t.cause,
    now() as claimed_at,
    t.publish_before <= now() as is_too_late,
    ${limitOfPlatform(sql)} as platform_limit,
    extract(epoch from now() - k.wake_at)::float8 * 1000 as lateness_ms,
    t.handles`;
}

interface ClaimedHeads {
  readonly tasks: readonly ClaimedTask[];
  /** Accounts without a claimed task, whose queues are locked. */
  readonly idle: readonly string[];
  readonly blocked: readonly BlockedAccount[];
}

type Unblocked = Pick<BlockedAccount, "accountId"> & { readonly restUntil: null };
type Head = ClaimedTask | ({ readonly targetId: null } & (BlockedAccount | Unblocked));

/** Claims the first ready task of each due account, with one statement. */
export async function claimHeads(tx: TransactionSql, options: ClaimOptions): Promise<ClaimedHeads> {
  const { owner, leaseMs } = options;
  const rows = await tx<Head[]>`
    with ${dueQueues(tx, options)},
    ${headTasks(tx, options)},
    claimed as (
      update publish_tasks t
      set status = ${claimedStatus(tx)},
        wake_at = now() + ${leaseMs} * interval '1 millisecond',
        crash_count = ${crashes(tx)},
        attempt_number = ${latestAttempt(tx)},
        fence = t.fence + 1,
        lease_owner = ${owner},
        updated_at = now()
      from taken k
      where t.target_id = k.target_id
      and t.generation = k.generation
      returning ${claimedColumns(tx)}
    ),
    -- The other tasks of the account wait until its lease ends, unless the task leaves the work before.
    busy as (
      update account_queues q
      set publish_at = c.wake_at,
        look_at = case when q.look_at is not null then c.wake_at end
      from claimed c
      where q.account_id = c.account_id
    )
    select h.wake_at as rest_from, h.rest_until, h.content_hash, c.*, q.account_id
    from queues q
    left join claimed c on c.account_id = q.account_id
    left join heads h on h.account_id = q.account_id and h.rest_until is not null`;
  const others = rows.filter((row) => row.targetId === null);
  return {
    tasks: rows.filter((row) => row.targetId !== null),
    idle: others.map(({ accountId }) => accountId),
    blocked: others.filter((row) => row.restUntil !== null),
  };
}

/**
 * Claims ready publish tasks: at most one per account, and the workspaces take turns. The claim
 * makes it rare, but not impossible, that two workers work for one account. The unique indexes of
 * `publish_tasks` make it impossible to publish a target twice.
 */
export async function claimTasks(tx: TransactionSql, options: ClaimOptions): Promise<Claimed> {
  const { tasks, idle, blocked } = await claimHeads(tx, options);
  if (blocked.length > 0) await restTasks(tx, blocked);
  if (idle.length > 0) await scheduleAccounts(tx, idle);
  // Another account can take the place of one without a task in the next claim.
  return { tasks, hasMore: idle.length > 0 || tasks.length === options.limit };
}

/** For this long after `publish_before`, only a process with the connector may search. */
const SEARCH_MINUTES = 60;

/** A publish task that this process has leased only to end it. */
interface UnsupportedTask extends LeasedKey {
  readonly attemptNumber: number;
  readonly cause: ClaimedTask["cause"];
}

/**
 * Too late to publish, on platforms without a connector: requested from a newer version, before a
 * return to this one. No other claim takes them; what a newer process holds is left to it.
 */
export async function claimUnsupportedTasks(
  sql: ISql,
  options: {
    readonly owner: string;
    readonly platforms: readonly string[];
    readonly leaseMs: number;
    readonly limit: number;
  },
): Promise<readonly UnsupportedTask[]> {
  const { platforms, limit } = options;
  // Several processes end different tasks at once, because locked tasks are skipped.
  return await sql<UnsupportedTask[]>`
    with taken as (
      select t.target_id, t.generation
      from account_queues q
      join publish_tasks t on t.account_id = q.account_id
      cross join deployment d
      where q.platform <> all(${platforms as string[]}::text[])
      and least(q.publish_at, q.look_at) <= now()
      and t.status in ('queued', 'working', 'unknown', 'reconciling')
      and t.wake_at <= now()
      and t.publish_before <= now() - case
        when t.status in ('unknown', 'reconciling') then ${SEARCH_MINUTES} * interval '1 minute'
        else interval '0'
      end
      -- Such a task may have been published, so it first gets an unknown outcome.
      and not ${isDoubtful(sql)}
      limit ${limit}
      for update of t skip locked
    )
    ${takeLocked(sql, TASK_TABLE, options)}
    returning t.target_id, t.generation, t.fence, t.attempt_number, t.cause`;
}
