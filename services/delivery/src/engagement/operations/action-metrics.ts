import { createCounter } from "@postrider/shared/telemetry/metrics";
import type { ActionType, CommentAction } from "#src/engagement/domain/comment-action.ts";

const TYPES: readonly ActionType[] = ["reply", "hide", "unhide", "private_reply"];

const actionsTotal = createCounter(
  "delivery_comment_actions_total",
  "Actions on comments, and private replies, that ended, by status and, when failed, the reason.",
  ["type", "status", "code"],
  TYPES.map((type) => ({ type, status: "failed", code: "outcome_unknown" })),
);

const duplicatesTotal = createCounter(
  "delivery_comment_action_duplicates_total",
  "Replies and private replies that a platform published more than once for one action.",
  ["type"],
  TYPES.map((type) => ({ type })),
);

/** Counts results of actions that could not be recorded in any form. */
export const refusedResultsTotal = createCounter(
  "delivery_refused_comment_action_results_total",
  "Results of actions on comments that could not be recorded in any form; the action continues as after a crash.",
);

/** Counts the end of an action. */
export function countEnd({ type, status, errorCode, furtherIds }: CommentAction): void {
  if (furtherIds.length > 0) duplicatesTotal.inc({ type });
  else actionsTotal.inc({ type, status, code: errorCode ?? "" });
}
