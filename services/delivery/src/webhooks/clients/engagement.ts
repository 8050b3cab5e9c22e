import type { AutomationRun } from "@postrider/contracts/engagement/v1/automation_service_pb";
import type { CommentAction } from "@postrider/contracts/engagement/v1/comment_service_pb";
import type { ISql } from "@postrider/shared/postgres";

interface ObjectRef {
  readonly workspaceId: string;
  readonly id: string;
}

/**
 * Reads comment actions and runs of automation rules by their ids. They are in the same database, so no RPC is needed;
 * `app.ts` passes the functions in, because `webhooks/` does not import `engagement/`. Unknown ids are missing in the
 * results.
 */
export interface EngagementReader {
  listCommentActions(sql: ISql, refs: readonly ObjectRef[]): Promise<readonly CommentAction[]>;
  listAutomationRuns(sql: ISql, refs: readonly ObjectRef[]): Promise<readonly AutomationRun[]>;
}
