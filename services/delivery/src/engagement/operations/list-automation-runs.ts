import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  AutomationRunSchema,
  type AutomationRun as AutomationRunMessage,
} from "@postrider/contracts/engagement/v1/automation_service_pb";
import type { ISql } from "@postrider/shared/postgres";
import { listRunsByIds, type AutomationRun } from "#src/engagement/db/automation-runs.ts";

export function toAutomationRun(run: AutomationRun): AutomationRunMessage {
  const { id, ruleId, commentId, mediaId, authorId, authorUsername, status, reason } = run;
  const hasAuthor = authorId !== null || authorUsername !== null;
  const author = {
    ...(authorId === null ? {} : { id: authorId }),
    ...(authorUsername === null ? {} : { username: authorUsername }),
  };
  return create(AutomationRunSchema, {
    id,
    ruleId,
    commentId,
    mediaId,
    ...(hasAuthor ? { author } : {}),
    status,
    ...(reason === null ? {} : { reason }),
    createdAt: timestampFromDate(run.createdAt),
    workspaceId: run.workspaceId,
    version: BigInt(run.version),
  });
}

/** For webhooks, which may name runs of other workspaces: these are missing. */
export async function listAutomationRuns(
  sql: ISql,
  refs: readonly { readonly workspaceId: string; readonly id: string }[],
): Promise<readonly AutomationRunMessage[]> {
  const runs = await listRunsByIds(sql, refs);
  return runs.map(toAutomationRun);
}
