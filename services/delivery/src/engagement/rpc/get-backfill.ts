import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  GetBackfillRequest,
  GetBackfillResponseSchema,
} from "@postrider/contracts/engagement/v1/automation_service_pb";
import { notFound } from "@postrider/shared/errors";
import { findBackfill } from "#src/engagement/db/backfills.ts";
import type { AutomationRpcDeps } from "#src/engagement/operations/automation-rpc-dependencies.ts";
import { toBackfill } from "#src/engagement/operations/backfill-pages.ts";
import { readResults } from "#src/engagement/operations/read-results.ts";
import { assertIds } from "./parse-automation-rule.ts";

/** Returns a backfill job with a page of its results. */
export async function getBackfill(
  deps: Pick<AutomationRpcDeps, "sql" | "cursorKeys">,
  request: GetBackfillRequest,
): Promise<MessageInitShape<typeof GetBackfillResponseSchema>> {
  const { workspaceId, backfillId } = request;
  assertIds(workspaceId, backfillId);
  const job = await findBackfill(deps.sql, workspaceId, backfillId);
  if (job === undefined) throw notFound();
  return { backfill: toBackfill(job), ...(await readResults(deps, job, request)) };
}
