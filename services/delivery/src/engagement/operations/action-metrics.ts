import { createCounter } from "@postrider/shared/telemetry/metrics";
import type { ActionType, CommentAction } from "#src/engagement/domain/comment-action.ts";

export const ACTION_TYPES: readonly ActionType[] = ["reply", "hide", "unhide", "private_reply"];

const actionsTotal = createCounter(
  "delivery_comment_actions_total",
  "Actions on comments, and private replies, that ended, by status and, when failed, the reason.",
  ["type", "status", "code"],
  ACTION_TYPES.map((type) => ({ type, status: "failed", code: "outcome_unknown" })),
);

const duplicatesTotal = createCounter(
  "delivery_comment_action_duplicates_total",
  "Replies and private replies that a platform published more than once for one action.",
  ["type"],
  ACTION_TYPES.map((type) => ({ type })),
);

/**
 * Counts results of actions that could be recorded neither with nor without the platform's texts.
 */
export const refusedResultsTotal = createCounter(
  "delivery_refused_comment_action_results_total",
  "Results of actions on comments that could not be recorded in any form; the action continues as after a crash.",
);

export function countEnd({ type, status, errorCode }: CommentAction): void {
  actionsTotal.inc({ type, status, code: errorCode ?? "" });
}

/** Counts an action that a platform has carried out more than once. */
export function countRepeated({ type }: CommentAction): void {
  duplicatesTotal.inc({ type });
}
