import type { ISql, TransactionSql } from "@postrider/shared/postgres";
import type { CommentAction } from "#src/engagement/domain/comment-action.ts";
import { actionColumns } from "./comment-actions.ts";

/** Clients must not repeat the action, because that would undo the later request. */
const CODE = "duplicate_detected";

/** Before the call: a worker that has claimed the action can no longer begin it. */
function end(sql: ISql) {
  return sql`
    status = 'failed',
    error_code = ${CODE},
    error_message = '',
    finished_at = now(),
    fence = t.fence + 1,
    lease_owner = null,
    version = t.version + 1`;
}

/**
 * Before a new action that decides whether the comment is hidden is stored, in the same
 * transaction.
 */
export async function replaceWaiting(
  tx: TransactionSql,
  { accountId, mediaId, commentId }: Pick<CommentAction, "accountId" | "mediaId" | "commentId">,
): Promise<readonly CommentAction[]> {
  // `for update` makes this transaction and one that records the end of a call on the same action
  // wait for each other. So an action that waits for another attempt is ended either here or by
  // `replaceRequeued`.
  return await tx<CommentAction[]>`
    with open as materialized (
      select id, status
      from comment_actions
      where account_id = ${accountId}
      and media_id = ${mediaId}
      and comment_id = ${commentId}
      and type in ('hide', 'unhide')
      and status in ('queued', 'working', 'calling')
      order by id
      for update
    )
    update comment_actions t
    set ${end(tx)}
    from open o
    where t.id = o.id
    and o.status in ('queued', 'working')
    returning ${actionColumns(tx)}`;
}

/** SQL condition: action `t` waits, and a later one has replaced it. */
function isReplaced(sql: ISql) {
  return sql`
    t.type in ('hide', 'unhide')
    and t.status = 'queued'
    and exists (
      select 1
      from comment_actions later
      where later.account_id = t.account_id
      and later.media_id = t.media_id
      and later.comment_id = t.comment_id
      and later.type in ('hide', 'unhide')
      and later.status in ('queued', 'working')
      and (later.created_at, later.id) > (t.created_at, t.id)
    )`;
}

/** Of locked actions that wait for another attempt, those that a later action has replaced. */
export async function replaceRequeued(
  tx: TransactionSql,
  ids: readonly string[],
): Promise<readonly CommentAction[]> {
  if (ids.length === 0) return [];
  return await tx<CommentAction[]>`
    update comment_actions t
    set ${end(tx)}
    where t.id in ${tx(ids)}
    and ${isReplaced(tx)}
    returning ${actionColumns(tx)}`;
}

/**
 * Each of many imported actions on one comment would wait for the one before. Returns how many of
 * them it has ended, up to `limit`.
 */
export async function replaceImported(
  sql: ISql,
  workspaceId: string,
  limit: number,
): Promise<number> {
  const { count } = await sql`
    update comment_actions t
    set ${end(sql)}
    where t.id in (
      select t.id
      from comment_actions t
      where t.workspace_id = ${workspaceId}
      and ${isReplaced(sql)}
      limit ${limit}
    )`;
  return count;
}
