import type { ISql, SqlFragment, TransactionSql } from "@postrider/shared/postgres";
import type { TaskKey } from "#src/publishing/domain/task.ts";
import type { ExternalAccount } from "./attempts.ts";
import { firstDueAt, isDoubtful, isDoubtfulSinceEarlier, ONE_RESTORE_HOURS } from "./deployment.ts";

/**
 * Task `t` can only have been published by a call that began after the backup. A task with handles
 * is excluded: a platform may date its post back to its preparation.
 */
function isWithoutStoredCall(sql: ISql) {
  return sql`
    (not exists (
        select 1
        from publish_tasks s
        where s.target_id = t.target_id
        and (s.open_unknowns > 0 or s.status = 'calling' or s.handles is not null)
      )
      and not ${isDoubtfulSinceEarlier(sql)})`;
}

/**
 * From when the post of task `t` is searched for after a restore. Too early a start may find a post
 * with the same text that a person published. Content that became due after the restore may repeat
 * a lost request, which is at most `ONE_RESTORE_HOURS` older if the age of the backup is unknown,
 * as that of another installation is.
 */
export function searchFrom(sql: ISql) {
  return sql`
    coalesce(case
      when t.is_doubtful then least(t.first_unknown_at, ${firstDueAt(sql)} - ${ONE_RESTORE_HOURS} * interval '1 hour')
      when ${isWithoutStoredCall(sql)} then d.data_until
    end, least(t.first_unknown_at, ${firstDueAt(sql)}, coalesce(d.data_until, case
      when ${firstDueAt(sql)} >= d.restored_at then d.restored_at - ${ONE_RESTORE_HOURS} * interval '1 hour'
    end)))`;
}

/** Selects the keys of ready publish tasks that a restore from a backup made uncertain. */
export function doubtfulTasks(sql: ISql, isDue: SqlFragment, limit: number) {
  return sql`
    select t.target_id, t.generation
    from publish_tasks t
    cross join deployment d
    where t.status in ('queued', 'working', 'unknown', 'reconciling')
    and t.wake_at <= now()
    and ${isDoubtful(sql)}
    and ${isDue}
    order by t.wake_at
    limit ${limit}`;
}

/** A restore before an operator's statement no longer makes the target or a retry uncertain. */
export async function settleDoubts(tx: TransactionSql, targetId: string): Promise<void> {
  await tx`
    update publish_tasks
    set doubted_at = now(),
      is_doubtful = false
    where target_id = ${targetId}`;
}

export async function countDoubts(sql: ISql): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count
    from publish_tasks t
    cross join deployment d
    where t.status in ('queued', 'working', 'calling', 'unknown', 'reconciling')
    and (${isDoubtful(sql)} or (t.is_restored and t.status in ('unknown', 'reconciling')))`;
  return row?.count ?? 0;
}

/** Of another target on the same account of the platform, of whichever workspace. */
interface UncertainTask extends TaskKey {
  readonly workspaceId: string;
}

/** Those that may have published a post although the data does not say so. */
export async function listUncertainTasks(
  sql: ISql,
  targetId: string,
  { platform, accountId, externalAccountId }: ExternalAccount,
  limit: number,
): Promise<readonly UncertainTask[]> {
  return await sql<UncertainTask[]>`
    select t.workspace_id, t.target_id, t.generation
    from publish_tasks t
    cross join deployment d
    where (t.account_id = ${accountId} or t.platform = ${platform} and t.external_account_id = ${externalAccountId})
    and t.target_id <> ${targetId}
    -- No other post has the text of a live check.
    and t.target_id <> t.post_id
    -- The next condition implies this one, with which Postgres reads only the unfinished targets of the account.
    and t.status in ('queued', 'working', 'calling', 'unknown', 'reconciling')
    and (
      t.status in ('calling', 'unknown', 'reconciling')
      or (t.status in ('queued', 'working') and ${isDoubtful(sql)})
    )
    limit ${limit}`;
}
