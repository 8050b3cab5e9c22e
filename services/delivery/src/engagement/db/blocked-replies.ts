import type { TransactionSql } from "@postrider/shared/postgres";
import type { EndedPrivateReply } from "#src/engagement/domain/comment-action.ts";

/**
 * Ends waiting private replies and returns them: all of them if the operator does not allow private
 * replies, otherwise those that were stored before private replies were last allowed. A private
 * reply whose call may have reached the platform is not ended. A worker would refuse the calls
 * anyway; this function ends the private replies sooner.
 */
export async function endBlocked(
  tx: TransactionSql,
  limit: number,
): Promise<readonly EndedPrivateReply[]> {
  // Private replies that a worker has locked are skipped: the worker ends them itself.
  const ended = await tx<Omit<EndedPrivateReply, "result">[]>`
    with blocked as materialized (
      select id
      from comment_actions
      where type = 'private_reply'
      and status = 'queued'
      and open_unknowns = 0
      and created_at < coalesce((select enabled_at from automation_sending), 'infinity')
      order by created_at
      limit ${limit}
      for no key update skip locked
    )
    update comment_actions a
    set status = 'failed',
      error_code = 'sending_blocked',
      finished_at = now(),
      version = a.version + 1
    from blocked b
    where a.id = b.id
    returning a.id, a.run_id, a.workspace_id, a.account_id`;
  const result = { kind: "failed", code: "sending_blocked", message: "" } as const;
  return ended.map((each) => ({ ...each, result }));
}
