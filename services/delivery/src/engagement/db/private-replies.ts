import type { ISql, SqlFragment, TransactionSql } from "@postrider/shared/postgres";
import type { StoppedRule } from "#src/engagement/db/automation-rules.ts";
import type { EndedPrivateReply } from "#src/engagement/domain/comment-action.ts";
import { isBlocked } from "./automation-sending.ts";

/** Returns those of the given comments that have a private reply, or for which one is waiting. */
export async function listAnswered(
  sql: ISql,
  { workspaceId, accountId }: { readonly workspaceId: string; readonly accountId: string },
  commentIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await sql<{ commentId: string }[]>`
    select comment_id
    from comment_actions
    where account_id = ${accountId}
    and workspace_id = ${workspaceId}
    and comment_id = any(${[...commentIds]}::text[])
    and type = 'private_reply'`;
  return new Set(rows.map(({ commentId }) => commentId));
}

/** Those of a stopped rule. */
export async function endStopped(
  tx: TransactionSql,
  { id, skipBefore }: StoppedRule,
  limit: number,
): Promise<readonly EndedPrivateReply[]> {
  const ofRule = tx`
    select a.id
    from automation_runs r
    join comment_actions a
      on a.account_id = r.account_id and a.comment_id = r.comment_id and a.type = 'private_reply' and a.run_id = r.id
    where r.rule_id = ${id}
    and r.status = 'prepared'
    and r.reason is null
    and r.created_at < ${skipBefore}::text::timestamptz
    and a.status = 'queued'
    and a.open_unknowns = 0
    order by r.created_at`;
  return await endWaiting(tx, ofRule, "rule_inactive", limit);
}

/** All of them while private replies are not allowed, else those from before they were allowed. */
export async function endBlocked(
  tx: TransactionSql,
  limit: number,
): Promise<readonly EndedPrivateReply[]> {
  const blocked = tx`
    select a.id
    from comment_actions a
    where ${isBlocked(tx)}
    order by a.created_at`;
  return await endWaiting(tx, blocked, "sending_blocked", limit);
}

/**
 * One whose call may have reached the platform is not ended. A worker would refuse the calls
 * anyway; this only ends them sooner.
 */
async function endWaiting(
  tx: TransactionSql,
  chosen: SqlFragment,
  code: "rule_inactive" | "sending_blocked",
  limit: number,
): Promise<readonly EndedPrivateReply[]> {
  // Private replies that a worker has locked are skipped: the worker ends them itself.
  const ended = await tx<Omit<EndedPrivateReply, "result">[]>`
    with ended as materialized (
      ${chosen}
      limit ${limit}
      for no key update of a skip locked
    )
    update comment_actions a
    set status = 'failed',
      error_code = ${code},
      finished_at = now(),
      version = a.version + 1
    from ended e
    where a.id = e.id
    returning a.id, a.run_id, a.workspace_id, a.account_id`;
  const result = { kind: "failed", code, message: "" } as const;
  return ended.map((each) => ({ ...each, result }));
}
