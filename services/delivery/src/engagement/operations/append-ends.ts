import { appendEvents, causedBy } from "@postrider/shared/outbox";
import type { TransactionSql } from "@postrider/shared/postgres";
import { causeOf } from "@postrider/shared/telemetry/cause";
import { applyEndedActions } from "#src/engagement/db/inbox-comments.ts";
import type { CommentAction } from "#src/engagement/domain/comment-action.ts";
import { commentActionCompleted } from "#src/events.ts";

/**
 * Also in the inbox, which shows answered comments. The event about the rule's run reports the end
 * of a private reply.
 */
export async function appendEnds(
  tx: TransactionSql,
  ended: readonly CommentAction[],
): Promise<void> {
  await applyEndedActions(tx, ended);
  const manual = ended.filter(({ type }) => type !== "private_reply");
  await appendEvents(
    tx,
    manual.map((action) =>
      causedBy(commentActionCompleted(action), action.cause && causeOf(action.cause)),
    ),
  );
}
