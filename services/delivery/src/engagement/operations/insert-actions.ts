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

/** A comment gets at most one private reply. */
const PRIVATE_REPLY_KEY = "private_reply";

/**
 * Equal for actions on one comment that a search could not tell apart or that must not be sent at
 * the same time: replies with the same text, and all that hide or show it.
 */
function callKeyOf({ type, text }: Pick<NewManualAction, "type" | "text">): string {
  if (type !== "reply") return "visibility";
  const hash = createHash("sha256").update(normalizeText(text ?? ""));
  return `reply ${hash.digest("hex")}`;
}

/** Returns the waiting actions that it replaces, whose events are stored too. */
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
 * The last write of a transaction that also stores the runs. Returns the ids of the stored ones: a
 * comment has at most one.
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
