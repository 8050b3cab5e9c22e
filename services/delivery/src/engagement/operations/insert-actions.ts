import { createHash } from "node:crypto";
import { normalizeText } from "@postrider/platforms/text/normalize-text";
import type { TransactionSql } from "@postrider/shared/postgres";
import { insertActions } from "#src/engagement/db/comment-actions.ts";
import { replaceWaiting } from "#src/engagement/db/replaced-actions.ts";
import type {
  CommentAction,
  NewManualAction,
  NewPrivateReply,
} from "#src/engagement/domain/comment-action.ts";
import { appendEnds } from "./append-ends.ts";

/**
 * The call key of private replies: the same key for all of them, because a comment gets at most one
 * private reply.
 */
const PRIVATE_REPLY_KEY = "private_reply";

/**
 * Returns the key that two actions on one comment share if a search of the platform cannot tell
 * their calls apart, or if they must not be sent at the same time: replies with the same text, and
 * all actions that hide or unhide the comment.
 */
function callKeyOf({ type, text }: Pick<NewManualAction, "type" | "text">): string {
  if (type !== "reply") return "visibility";
  const hash = createHash("sha256").update(normalizeText(text ?? ""));
  return `reply ${hash.digest("hex")}`;
}

/**
 * Stores a manual action. An action that hides or shows a comment ends the waiting ones for the
 * same comment, and stores the events about their end. After the commit, the caller wakes the
 * process's loop that carries out actions, and counts the ended actions.
 *
 * @returns The actions that the new one has ended.
 */
export async function insertManualAction(
  tx: TransactionSql,
  action: NewManualAction,
): Promise<readonly CommentAction[]> {
  const isReply = action.type === "reply";
  const replaced = isReply ? [] : await replaceWaiting(tx, action);
  await appendEnds(tx, replaced);
  const row = { ...action, callKey: callKeyOf(action), ruleId: null, runId: null };
  await insertActions(tx, [{ ...row, sendBefore: null }]);
  return replaced;
}

/**
 * Stores private replies, which are sent after the commit. Call it as the last write of a
 * transaction that also stores the rules' runs.
 *
 * @returns The ids of the stored private replies. One is missing if its comment has a private reply
 *   already.
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
