import type { ISql, TransactionSql } from "@postrider/shared/postgres";
import type { EndedPrivateReply } from "#src/engagement/domain/comment-action.ts";

/** Blocking and allowing again sets a new time: comments from in between are never answered. */
export async function storeSending(sql: ISql, isEnabled: boolean): Promise<Date | null> {
  if (!isEnabled) {
    await sql`delete from automation_sending`;
    return null;
  }
  await sql`
    insert into automation_sending (enabled_at)
    values (clock_timestamp())
    on conflict (only_row) do nothing`;
  return await findSendingSince(sql);
}

/** Returns since when private replies may be sent; null if they must not be sent. */
export async function findSendingSince(sql: ISql): Promise<Date | null> {
  const [row] = await sql<{ enabledAt: Date }[]>`
    select enabled_at
    from automation_sending`;
  return row?.enabledAt ?? null;
}

function isBlocked(sql: ISql) {
  return sql`
    type = 'private_reply'
    and status = 'queued'
    and open_unknowns = 0
    and created_at < coalesce((select enabled_at from automation_sending), 'infinity')`;
}

export function hasBlockedReplies(sql: ISql) {
  return sql`exists (select from comment_actions where ${isBlocked(sql)})`;
}

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
      where ${isBlocked(tx)}
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
