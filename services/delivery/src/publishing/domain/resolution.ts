import { onPublished } from "./decide-success.ts";
import { attemptWith, change, type Decision, type TaskSnapshot } from "./decision.ts";

/** What an operator states about a publishing call with an unknown outcome. */
export type OperatorsWord =
  | { readonly kind: "published"; readonly externalId: string | null; readonly permalink: string }
  | { readonly kind: "absent" };

export type Resolution =
  | { readonly kind: "decided"; readonly decision: Decision }
  /**
   * The operator's statement is not accepted: the outcome of the publishing call is already known, or the call may
   * still arrive at the platform.
   */
  | { readonly kind: "not_in_question" };

/**
 * Error code of a target for which an operator stated that the platform has no post. This code lets the user retry the
 * target.
 */
const ABSENT_CODE = "platform_unavailable";
const ABSENT_MESSAGE = "an operator found that the target was not published";

const NOT_IN_QUESTION: Resolution = { kind: "not_in_question" };

/**
 * Whether the outcome of the task's publishing call is unknown, so that only a look at the platform can show whether
 * the post is there.
 */
function isInQuestion({ task, siblings }: TaskSnapshot): boolean {
  if (siblings.some(({ status }) => status === "published")) return false;
  if (task.status === "unknown" || task.status === "reconciling") return true;
  return task.status === "failed" && task.errorCode === "outcome_unknown";
}

/**
 * Decides what follows from an operator's statement about a publishing call. The statement that the post is absent is not
 * accepted before `callUntil`, because until then the call may still arrive at the platform. A success that is already known
 * takes precedence over any statement.
 */
export function decideResolution(snapshot: TaskSnapshot, word: OperatorsWord): Resolution {
  const { task, attempt, now } = snapshot;
  if (!isInQuestion(snapshot)) return NOT_IN_QUESTION;
  if (attempt?.outcome === "published")
    return { kind: "decided", decision: onPublished(snapshot, attempt) };
  if (word.kind === "published") return { kind: "decided", decision: onPublished(snapshot, word) };
  if (task.callUntil !== null && task.callUntil > now) return NOT_IN_QUESTION;
  const absent = {
    ...task,
    status: "failed",
    isAttemptOpen: false,
    openUnknowns: 0,
    errorCode: ABSENT_CODE,
    errorMessage: ABSENT_MESSAGE,
  } as const;
  const ended = attemptWith(snapshot, "failed", { code: ABSENT_CODE, message: ABSENT_MESSAGE });
  return { kind: "decided", decision: { task, changes: [change(absent)], ...ended } };
}
