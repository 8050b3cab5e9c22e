import { onPublished } from "./decide-success.ts";
import { attemptResult, change, type Decision, type Situation } from "./decision.ts";

/** What an operator says about a call with an unknown outcome. */
export type OperatorsWord =
  | { readonly kind: "published"; readonly externalId: string | null; readonly permalink: string }
  | { readonly kind: "absent" };

/** The code makes the target retryable: the platform gave no answer, and nothing came of the call. */
const ABSENT_CODE = "platform_unavailable";
const ABSENT_MESSAGE = "an operator found that it was not published";

/** Whether the task's outcome is a question that only a look at the platform can answer. */
function isQuestion({ task, siblings }: Situation): boolean {
  if (siblings.some(({ status }) => status === "published")) return false;
  if (task.status === "unknown" || task.status === "reconciling") return true;
  return task.status === "failed" && task.errorCode === "outcome_unknown";
}

/**
 * What follows from an operator's word; undefined when the outcome is not in question. Absence is not believed before the
 * call's time is over, because until then it may still arrive. A success that is known already wins over any word.
 */
export function decideResolution(situation: Situation, word: OperatorsWord): Decision | undefined {
  const { task, attempt, now } = situation;
  if (!isQuestion(situation)) return undefined;
  if (attempt?.outcome === "published") return onPublished(situation, attempt);
  if (word.kind === "published") return onPublished(situation, word);
  if (task.callUntil !== null && task.callUntil > now) return undefined;
  const absent = {
    ...task,
    status: "failed",
    isAttemptOpen: false,
    openUnknowns: 0,
    errorCode: ABSENT_CODE,
    errorMessage: ABSENT_MESSAGE,
  } as const;
  return {
    changes: [change(absent)],
    attempt: attemptResult("failed", ABSENT_CODE, ABSENT_MESSAGE),
  };
}
