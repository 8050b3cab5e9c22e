import type { Sql, TransactionSql } from "@postrider/shared/postgres";

/** The same stop as that of a workspace whose deletion was requested; it ends like that one. */
export async function stopImport(tx: TransactionSql, workspaceId: string): Promise<void> {
  await tx`
    insert into pauses (kind, key)
    values ('deletion', ${workspaceId})
    on conflict (kind, key) do update
    set created_at = now()`;
}

/** Rows that a statement changes: all of a large workspace would take longer than it may. */
const PAGE_ROWS = 1_000;

/**
 * SQL condition: the task `t` is among the next unfinished ones. These have a queue, which the
 * trigger of their table made.
 */
function isNext(sql: Sql, workspaceId: string, which = sql`true`) {
  return sql`
    (t.target_id, t.generation) in (
      select u.target_id, u.generation
      from publish_tasks u
      where u.account_id in (select account_id from account_queues where workspace_id = ${workspaceId})
      and u.workspace_id = ${workspaceId}
      and u.status in ('queued', 'working', 'calling', 'unknown', 'reconciling')
      and ${which}
      limit ${PAGE_ROWS}
    )`;
}

/**
 * Lets the platforms be asked what they had not answered when targets were published: one question
 * after the other, because a claim looks only at those of all workspaces that are due for longest.
 */
async function wakeQuestions(sql: Sql, workspaceId: string): Promise<void> {
  for (let woken = 0, count = 1; count > 0; woken += count)
    ({ count } = await sql`
      update detail_questions q
      set wake_at = now() + (${woken}::int + k.turn) * interval '1 second'
      from (
        select target_id, generation, row_number() over (order by created_at desc) - 1 as turn
        from detail_questions
        where workspace_id = ${workspaceId}
        and wake_at > now() + interval '300 days'
        order by created_at desc
        limit ${PAGE_ROWS}
      ) as k
      where q.target_id = k.target_id
      and q.generation = k.generation`);
}

async function dropTasks(sql: Sql, workspaceId: string): Promise<number> {
  const { count } = await sql`
    update publish_tasks t
    set status = 'dropped',
      is_cancelled = true,
      updated_at = now()
    where ${isNext(sql, workspaceId)}`;
  return count;
}

async function wakeTasks(sql: Sql, workspaceId: string): Promise<number> {
  const isResting = sql`u.wake_at > now() + interval '300 days'`;
  const { count } = await sql`
    update publish_tasks t
    set wake_at = least(greatest(now(), t.call_until), now() + interval '1 day')
    where ${isNext(sql, workspaceId, isResting)}`;
  return count;
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
  const release = isCopy ? dropTasks : wakeTasks;
  while ((await release(sql, workspaceId)) > 0);
  await wakeQuestions(sql, workspaceId);
}
