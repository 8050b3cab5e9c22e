import type { Sql } from "@postrider/shared/postgres";
import { replaceImported } from "./replaced-actions.ts";

const OPEN = ["queued", "working", "calling", "unknown", "reconciling"];

async function failActions(sql: Sql, workspaceId: string): Promise<void> {
  await sql`
    update comment_actions
    set status = 'failed',
      error_code = 'outcome_unknown',
      error_message = 'the workspace was copied while it worked',
      finished_at = now(),
      version = version + 1
    where workspace_id = ${workspaceId}
    and status = any(${OPEN})`;
}

/** The queue of an account is written last, as everywhere. */
async function wakeActions(sql: Sql, workspaceId: string): Promise<void> {
  await sql.begin(async (tx) => {
    await replaceImported(tx, workspaceId);
    await tx`
      update comment_actions
      set wake_at = greatest(now(), call_until)
      where workspace_id = ${workspaceId}
      and status = any(${OPEN})
      and wake_at > now() + interval '300 days'`;
    await tx`
      insert into comment_action_queues as q (account_id, workspace_id, platform, wake_at)
      select account_id, workspace_id, any_value(platform), now()
      from comment_actions
      where workspace_id = ${workspaceId}
      and status = any(${OPEN})
      group by account_id, workspace_id
      order by account_id
      on conflict (account_id) do update
      set wake_at = least(q.wake_at, excluded.wake_at)`;
  });
}

/** Makes the rows of accounts that the imported rows need. */
export async function releaseImportedEngagement(
  sql: Sql,
  workspaceId: string,
  isCopy: boolean,
): Promise<void> {
  await (isCopy ? failActions(sql, workspaceId) : wakeActions(sql, workspaceId));
  await sql`
    insert into metrics_accounts (account_id, workspace_id, platform, due_at)
    select account_id, workspace_id, any_value(platform), min(due_at)
    from target_metrics
    where workspace_id = ${workspaceId}
    group by account_id, workspace_id
    order by account_id
    on conflict (account_id) do nothing`;
}
