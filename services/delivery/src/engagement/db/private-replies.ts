import type { ISql, TransactionSql } from "@postrider/shared/postgres";
import type { StoppedRule } from "#src/engagement/db/automation-rules.ts";
import type { EndedPrivateReply } from "#src/engagement/domain/comment-action.ts";

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

/**
 * One whose call may have reached the platform is not ended. The calls are refused since the rule
 * was stopped; this only ends them sooner.
 */
export async function endStopped(
  tx: TransactionSql,
  { id, skipBefore }: StoppedRule,
  limit: number,
): Promise<readonly EndedPrivateReply[]> {
  // Private replies that a worker has locked are skipped: the worker ends them itself.
  const ended = await tx<Omit<EndedPrivateReply, "result">[]>`
    with stopped as materialized (
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
      order by r.created_at
      limit ${limit}
      for no key update of a skip locked
    )
    update comment_actions a
    set status = 'failed',
      error_code = 'rule_inactive',
      finished_at = now(),
      version = a.version + 1
    from stopped s
    where a.id = s.id
    returning a.id, a.run_id, a.workspace_id, a.account_id`;
  const result = { kind: "failed", code: "rule_inactive", message: "" } as const;
  return ended.map((each) => ({ ...each, result }));
}
