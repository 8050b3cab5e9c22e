import type { Sql, TransactionSql } from "@postrider/shared/postgres";

/** The same stop as that of a workspace whose deletion was requested; it ends like that one. */
export async function stopImport(tx: TransactionSql, workspaceId: string): Promise<void> {
  await tx`
    insert into pauses (kind, key)
    values ('deletion', ${workspaceId})
    on conflict (kind, key) do update
    set created_at = now()`;
}

/** Unfinished tasks have a queue, which the trigger of their table made. */
function unfinished(sql: Sql, workspaceId: string) {
  return sql`
    t.account_id in (select account_id from account_queues where workspace_id = ${workspaceId})
    and t.workspace_id = ${workspaceId}
    and t.status in ('queued', 'working', 'calling', 'unknown', 'reconciling')`;
}

/**
 * Lets the platforms be asked what they had not answered when targets were published: one question
 * after the other, because a claim looks only at those of all workspaces that are due for longest.
 */
async function wakeQuestions(sql: Sql, workspaceId: string): Promise<void> {
  await sql`
    update detail_questions q
    set wake_at = now() + k.turn * interval '1 second'
    from (
      select target_id, generation, row_number() over (order by created_at desc) - 1 as turn
      from detail_questions
      where workspace_id = ${workspaceId}
      and wake_at > now() + interval '300 days'
    ) as k
    where q.target_id = k.target_id
    and q.generation = k.generation`;
}

/**
 * Lets the platforms be searched for calls of an imported workspace whose outcome is unknown, or
 * drops everything unfinished, for good, when the exported workspace may have gone on with it.
 */
export async function releaseImportedTasks(
  sql: Sql,
  workspaceId: string,
  isCopy: boolean,
): Promise<void> {
  if (isCopy)
    await sql`
      update publish_tasks t
      set status = 'dropped',
        is_cancelled = true,
        updated_at = now()
      where ${unfinished(sql, workspaceId)}`;
  else
    await sql`
      update publish_tasks t
      set wake_at = greatest(now(), t.call_until)
      where ${unfinished(sql, workspaceId)}
      and t.wake_at > now() + interval '300 days'`;
  await wakeQuestions(sql, workspaceId);
}
