import type { Sql } from "@postrider/shared/postgres";
import { replaceImported } from "./replaced-actions.ts";

const OPEN = ["queued", "working", "calling", "unknown", "reconciling"];

/** Rows that a statement changes: all of a large workspace would take longer than it may. */
const PAGE_ROWS = 1_000;

/** SQL condition: the action `t` is among the next open ones. */
function isNext(sql: Sql, workspaceId: string, which = sql`true`) {
  return sql`
    t.id in (
      select id
      from comment_actions
      where workspace_id = ${workspaceId}
      and status = any(${OPEN})
      and ${which}
      limit ${PAGE_ROWS}
    )`;
}

async function failActions(sql: Sql, workspaceId: string): Promise<number> {
  const { count } = await sql`
    update comment_actions t
    set status = 'failed',
      error_code = 'outcome_unknown',
      error_message = 'the workspace was copied while it worked',
      finished_at = now(),
      version = version + 1
    where ${isNext(sql, workspaceId)}`;
  return count;
}

/** Those that wait for a private reply, which is not sent. */
async function failRuns(sql: Sql, workspaceId: string): Promise<number> {
  const { count } = await sql`
    update automation_runs
    set status = 'failed',
      reason = 'outcome_unknown',
      version = version + 1
    where id in (
      select id
      from automation_runs
      where workspace_id = ${workspaceId}
      and status = 'prepared'
      and reason is null
      limit ${PAGE_ROWS}
    )`;
  return count;
}

async function wakeActions(sql: Sql, workspaceId: string): Promise<number> {
  const isResting = sql`wake_at > now() + interval '300 days'`;
  const { count } = await sql`
    update comment_actions t
    set wake_at = least(greatest(now(), call_until), now() + interval '1 day')
    where ${isNext(sql, workspaceId, isResting)}`;
  return count;
}

async function queueActions(sql: Sql, workspaceId: string): Promise<void> {
  await sql`
    insert into comment_action_queues as q (account_id, workspace_id, platform, wake_at)
    select account_id, workspace_id, any_value(platform), now()
    from comment_actions
    where workspace_id = ${workspaceId}
    and status = any(${OPEN})
    group by account_id, workspace_id
    order by account_id
    on conflict (account_id) do update
    set wake_at = least(q.wake_at, excluded.wake_at)`;
}

async function endActions(sql: Sql, workspaceId: string): Promise<void> {
  while ((await failActions(sql, workspaceId)) > 0);
  while ((await failRuns(sql, workspaceId)) > 0);
}

async function releaseActions(sql: Sql, workspaceId: string): Promise<void> {
  while ((await replaceImported(sql, workspaceId, PAGE_ROWS)) > 0);
  while ((await wakeActions(sql, workspaceId)) > 0);
  await queueActions(sql, workspaceId);
}

/** Makes the rows of accounts that the imported rows need. */
export async function releaseImportedEngagement(
  sql: Sql,
  workspaceId: string,
  isCopy: boolean,
): Promise<void> {
  if (isCopy) await endActions(sql, workspaceId);
  else await releaseActions(sql, workspaceId);
  await sql`
    insert into metrics_accounts (account_id, workspace_id, platform, due_at)
    select account_id, workspace_id, any_value(platform), min(due_at)
    from target_metrics
    where workspace_id = ${workspaceId}
    group by account_id, workspace_id
    order by account_id
    on conflict (account_id) do nothing`;
}
