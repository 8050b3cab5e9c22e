import type { ISql, TransactionSql } from "@postrider/shared/postgres";
import { readClock } from "@postrider/shared/postgres/clock";
import type { CommentAction } from "#src/engagement/domain/comment-action.ts";
import { actionColumns } from "./comment-actions.ts";

/** Locks actions. `now` is the database's time after the locks were granted. */
export async function lockActions(
  tx: TransactionSql,
  ids: readonly string[],
): Promise<{ readonly actions: readonly CommentAction[]; readonly now: Date }> {
  // Actions are locked in the order of their ids, so that two transactions cannot deadlock.
  const [actions, now] = await Promise.all([
    tx<CommentAction[]>`
      select ${actionColumns(tx)}
      from comment_actions a
      where a.id in ${tx(ids)}
      order by a.id
      for update of a`,
    readClock(tx),
  ]);
  return { actions, now };
}

/** Writes the new states of locked actions. */
export async function updateActions(
  tx: TransactionSql,
  actions: readonly CommentAction[],
): Promise<void> {
  const rows = actions.map((action) => ({
    id: action.id,
    status: action.status,
    wake_at: action.wakeAt.toISOString(),
    crash_count: action.crashCount,
    retry_count: action.retryCount,
    first_unknown_at: action.firstUnknownAt?.toISOString() ?? null,
    open_unknowns: action.openUnknowns,
    resend_count: action.resendCount,
    looks: action.looks,
    is_limited: action.isLimited,
    version: action.version,
    external_id: action.externalId,
    further_ids: action.furtherIds,
    error_code: action.errorCode,
    error_message: action.errorMessage,
    finished_at: action.finishedAt?.toISOString() ?? null,
  }));
  await tx`
    update comment_actions a
    set status = k.status,
      wake_at = k.wake_at,
      crash_count = k.crash_count,
      retry_count = k.retry_count,
      first_unknown_at = k.first_unknown_at,
      open_unknowns = k.open_unknowns,
      resend_count = k.resend_count,
      looks = k.looks,
      is_limited = k.is_limited,
      version = k.version,
      external_id = k.external_id,
      further_ids = k.further_ids,
      error_code = k.error_code,
      error_message = k.error_message,
      finished_at = k.finished_at
    from jsonb_to_recordset(${tx.json(rows)}) as k(
      id uuid, status text, wake_at timestamptz, crash_count int, retry_count int, first_unknown_at timestamptz,
      open_unknowns int, resend_count int, looks int, is_limited boolean, version bigint, external_id text,
      further_ids text[], error_code text, error_message text, finished_at timestamptz
    )
    where a.id = k.id`;
}

/**
 * Returns those of the given ids of replies or messages that belong to another action of the account, so that the platform
 * cannot have created them for the given action.
 */
export async function findOwnedReplies(
  sql: ISql,
  {
    id,
    workspaceId,
    accountId,
    commentId,
  }: Pick<CommentAction, "id" | "workspaceId" | "accountId" | "commentId">,
  externalIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (externalIds.length === 0) return new Set();
  const rows = await sql<{ externalId: string }[]>`
    select external_id
    from comment_actions
    where account_id = ${accountId}
    and workspace_id = ${workspaceId}
    and external_id in ${sql(externalIds)}
    and id <> ${id}
    union
    select unnest(further_ids) as external_id
    from comment_actions
    where account_id = ${accountId}
    and workspace_id = ${workspaceId}
    and comment_id = ${commentId}
    and id <> ${id}`;
  const owned = new Set(rows.map(({ externalId }) => externalId));
  return new Set(externalIds.filter((externalId) => owned.has(externalId)));
}
