import type { TransactionSql } from "@postrider/shared/postgres";
import { insertActions } from "#src/engagement/db/comment-actions.ts";
import { callKeyOf, PRIVATE_REPLY_KEY } from "#src/engagement/domain/call-key.ts";
import type { NewManualAction, NewPrivateReply } from "#src/engagement/domain/comment-action.ts";

/** Stores a manual action. After the commit, the caller nudges the dispatcher. */
export async function insertManualAction(
  tx: TransactionSql,
  action: NewManualAction,
): Promise<void> {
  const row = { ...action, callKey: callKeyOf(action), ruleId: null, runId: null };
  await insertActions(tx, [{ ...row, sendBefore: null }]);
}

/**
 * Stores private replies, which are sent after the commit. Call it as the last write of a transaction that also stores their runs.
 *
 * @returns The ids of the stored private replies. One is missing if its comment has a private reply already.
 */
export async function insertPrivateReplies(
  tx: TransactionSql,
  replies: readonly NewPrivateReply[],
): Promise<ReadonlySet<string>> {
  const rows = replies.map((reply) => ({
    ...reply,
    type: "private_reply" as const,
    callKey: PRIVATE_REPLY_KEY,
  }));
  return await insertActions(tx, rows);
}
