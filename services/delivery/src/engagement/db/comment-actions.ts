import type { ISql, TransactionSql } from "@postrider/shared/postgres";
import { currentCause } from "@postrider/shared/telemetry/cause";
import type {
  ActionType,
  CommentAction,
  NewManualAction,
  NewPrivateReply,
} from "#src/engagement/domain/comment-action.ts";
import { wakeQueues } from "./action-queues.ts";

export interface ActionRow extends Omit<NewManualAction, "type"> {
  readonly type: ActionType;
  /** See `callKeyOf`. */
  readonly callKey: string;
  readonly ruleId: NewPrivateReply["ruleId"] | null;
  readonly runId: NewPrivateReply["runId"] | null;
  /** No platform call starts after this instant; null = 24 hours after the request. */
  readonly sendBefore: Date | null;
}

/** Of `comment_actions` as `t`. */
export function actionColumns(sql: ISql) {
  return sql`
    t.id, t.workspace_id, t.account_id, t.platform, t.media_id, t.comment_id, t.type, t.text, t.run_id,
    t.send_before, t.status, t.wake_at, t.fence, t.crash_count, t.retry_count, t.call_number, t.called_at,
    t.call_until, t.first_unknown_at, t.unknown_count, t.open_unknowns, t.resend_count, t.looks, t.is_limited,
    t.is_restored, t.version,
    t.external_account_id, t.external_id, t.further_ids, t.error_code, t.error_message, t.cause, t.created_at, t.finished_at`;
}

function toRow(action: ActionRow) {
  return {
    id: action.id,
    workspace_id: action.workspaceId,
    account_id: action.accountId,
    platform: action.platform,
    media_id: action.mediaId,
    comment_id: action.commentId,
    comment_created_at: action.commentCreatedAt?.toISOString() ?? null,
    type: action.type,
    text: action.text,
    call_key: action.callKey,
    rule_id: action.ruleId,
    run_id: action.runId,
    send_before: action.sendBefore?.toISOString() ?? null,
  };
}

/** Returns the ids of the stored ones: a comment has at most one private reply. */
export async function insertActions(
  tx: TransactionSql,
  actions: readonly ActionRow[],
): Promise<ReadonlySet<string>> {
  if (actions.length === 0) return new Set();
  // The unique index decides which of two private replies to one comment is stored, also between
  // transactions. The rows are inserted in the order of the comments, so that two transactions
  // cannot deadlock there.
  const inserted = await tx<{ id: string; accountId: string }[]>`
    insert into comment_actions (
      id, workspace_id, account_id, platform, media_id, comment_id, comment_created_at, type, text, call_key,
      rule_id, run_id, send_before, status, wake_at, cause
    )
    select id, workspace_id, account_id, platform, media_id, comment_id, comment_created_at, type, text, call_key,
      rule_id, run_id, coalesce(send_before, now() + interval '24 hours'), 'queued',
      now(), ${tx.json(currentCause())}
    from jsonb_to_recordset(${tx.json(actions.map(toRow))}) as r(
      id uuid, workspace_id uuid, account_id uuid, platform text, media_id text, comment_id text,
      comment_created_at timestamptz, type text, text text, call_key text, rule_id uuid, run_id uuid, send_before timestamptz
    )
    order by account_id, comment_id, id
    on conflict (account_id, comment_id) where type = 'private_reply' do nothing
    returning id, account_id`;
  await wakeQueues(
    tx,
    inserted.map(({ id }) => id),
  );
  return new Set(inserted.map(({ id }) => id));
}

/** Returns a manual action of a workspace; undefined if there is none with this id. */
export async function findManualAction(
  sql: ISql,
  { workspaceId, id }: { readonly workspaceId: string; readonly id: string },
): Promise<CommentAction | undefined> {
  const [action] = await listManualActions(sql, [{ workspaceId, id }]);
  return action;
}

/** A reference with the id of another workspace finds no action. */
export async function listManualActions(
  sql: ISql,
  refs: readonly { readonly workspaceId: string; readonly id: string }[],
): Promise<readonly CommentAction[]> {
  const rows = refs.map(({ workspaceId, id }) => ({ workspace_id: workspaceId, id }));
  return await sql<CommentAction[]>`
    select ${actionColumns(sql)}
    from comment_actions t
    where t.type <> 'private_reply'
    and (t.id, t.workspace_id) in (
      select id, workspace_id
      from jsonb_to_recordset(${sql.json(rows)}) as r(id uuid, workspace_id uuid)
    )`;
}
