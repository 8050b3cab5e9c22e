import type { ISql, TransactionSql } from "@postrider/shared/postgres";
import { firstDueAt, isDoubtful, isDoubtfulSinceEarlier, ONE_RESTORE_HOURS } from "./deployment.ts";

const BATCH = 500;
const MESSAGE = "the data was restored from a backup; the target may have been published before";

/**
 * For this many minutes after a restore from a backup, each search for tasks whose outcome the restore made uncertain
 * reads all due tasks. Afterwards, only the rarer thorough searches (`isThorough`) do so.
 */
const RECENT_RESTORE_MINUTES = 30;

/**
 * SQL condition: if the target of publish task `t` was published, then only by a publishing call that the restored data
 * does not contain, and that therefore began after the backup. A task with handles (ids from the platform) is excluded,
 * because a platform may date its post back to the time of its preparation.
 */
function isWithoutStoredCall(sql: ISql) {
  return sql`
    (not exists (
        select 1
        from publish_tasks s
        where s.target_id = t.target_id
        and (s.open_unknowns > 0 or s.status = 'calling')
      )
      and not exists (
        select 1
        from task_handles h
        where h.target_id = t.target_id
      )
      and not ${isDoubtfulSinceEarlier(sql)})`;
}

/**
 * SQL expression: the time from which a platform is searched for the post of publish task `t` after a restore from a backup.
 * A search that starts too early may find a post with the same text that a person published.
 * Content that became due after the restore may repeat a request that the restore lost. If the age of the backup is not known,
 * the lost request is assumed to be at most `ONE_RESTORE_HOURS` older than the restore.
 */
function searchFrom(sql: ISql) {
  return sql`
    coalesce(case when ${isWithoutStoredCall(sql)} then d.data_until end, least(t.first_unknown_at, ${firstDueAt(sql)}, coalesce(d.data_until, case
      when ${firstDueAt(sql)} >= d.restored_at then d.restored_at - ${ONE_RESTORE_HOURS} * interval '1 hour'
    end)))`;
}

/**
 * Sets the status `unknown` for each ready publish task whose outcome a restore from a backup made uncertain: a publishing call
 * that the restored data does not contain may have published its post. The platform is searched for the post only when every
 * publishing call that was open at the restore has ended. The raised fencing token stops a worker that still holds the task
 * from beginning a call.
 *
 * @param visibleCallMs Maximum duration of a publishing call, in milliseconds.
 * @param isThorough Whether to look also for tasks that became ready long after the restore, which reads all due tasks.
 * @returns Whether there may be more tasks whose outcome the restore made uncertain.
 */
export async function doubtTasks(
  sql: ISql,
  visibleCallMs: number,
  isThorough: boolean,
): Promise<boolean> {
  const result = await sql`
    with doubtful as (
      select t.target_id, t.generation
      from publish_tasks t
      cross join deployment d
      where t.status in ('queued', 'working', 'unknown', 'reconciling')
      and t.wake_at <= now()
      and ${isDoubtful(sql)}
      -- Postgres evaluates this once, before it reads a task.
      and (
        select r.restored_at is not null
          and (${isThorough} or r.restored_at > now() - ${RECENT_RESTORE_MINUTES} * interval '1 minute')
        from deployment r
      )
      order by t.wake_at
      limit ${BATCH}
      for update of t skip locked
    )
    update publish_tasks t
    set status = 'unknown',
      wake_at = greatest(now(), d.restored_at + ${visibleCallMs} * interval '1 millisecond'),
      doubted_at = d.restored_at,
      is_restored = true,
      fence = t.fence + 1,
      lease_owner = null,
      -- The recorded outcome of an earlier call does not decide whether the target was published.
      call_number = t.call_number + 1,
      call_until = greatest(t.call_until, d.restored_at + ${visibleCallMs} * interval '1 millisecond'),
      first_unknown_at = ${searchFrom(sql)},
      -- If the data contains no call of the task, sending the target after proved absence does not count as a resend.
      is_limited = t.is_limited or t.open_unknowns = 0,
      unknown_count = t.unknown_count + 1,
      open_unknowns = t.open_unknowns + 1,
      looks = 0,
      -- Several posts with the same content may be uncertain at a time, because none of them has an open call.
      content_hash = null,
      error_code = 'outcome_unknown',
      error_message = ${MESSAGE},
      version = t.version + 1,
      updated_at = now()
    from doubtful k, deployment d
    where t.target_id = k.target_id
    and t.generation = k.generation`;
  return result.count === BATCH;
}

/**
 * Records that an operator has stated whether the target was published. A restore before that statement no longer makes the
 * outcome of the target, or of a retry, uncertain.
 */
export async function settleDoubts(tx: TransactionSql, targetId: string): Promise<void> {
  await tx`
    update publish_tasks
    set doubted_at = now()
    where target_id = ${targetId}`;
}

/** Counts the unfinished publish tasks that a restore made uncertain and whose outcome is still unknown. */
export async function countDoubts(sql: ISql): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count
    from publish_tasks t
    cross join deployment d
    where t.status in ('queued', 'working', 'calling', 'unknown', 'reconciling')
    and (${isDoubtful(sql)} or (t.is_restored and t.status in ('unknown', 'reconciling')))`;
  return row?.count ?? 0;
}
