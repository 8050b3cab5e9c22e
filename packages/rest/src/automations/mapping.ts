import type { AutomationRun } from "@postrider/contracts/engagement/v1/automation_service_pb";
import { toCommentAuthor } from "#src/comments/mapping.ts";
import { toOptionalInstant } from "#src/timestamps.ts";

export function toAutomationRun(run: AutomationRun) {
  const { id, ruleId, commentId, mediaId, status } = run;
  return {
    id,
    ruleId,
    commentId,
    mediaId,
    author: toCommentAuthor(run.author),
    status,
    reason: run.reason ?? null,
    createdAt: toOptionalInstant(run.createdAt),
  };
}
