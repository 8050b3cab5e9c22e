import type { Missing } from "#src/comments/connector.ts";
import type { NoAnswer } from "#src/http/call-platform.ts";
import type { PlatformAnswer } from "#src/http/platform-answer.ts";
import type { Failure } from "#src/publishing/outcome.ts";
import { isMissing, toStepFailure, type GraphMeanings } from "./failures.ts";

/**
 * The Graph API gives the same answer for an object that does not exist and for one of another
 * account.
 */
export function toReadFailure(
  answer: PlatformAnswer | NoAnswer,
  own: GraphMeanings,
): Missing | Failure {
  return answer.kind === "answer" && isMissing(answer)
    ? { kind: "missing" }
    : toStepFailure(answer, own);
}
