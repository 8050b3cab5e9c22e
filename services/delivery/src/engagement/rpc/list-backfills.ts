import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  ListBackfillsRequest,
  ListBackfillsResponseSchema,
} from "@postrider/contracts/engagement/v1/automation_service_pb";
import { listBackfillPage } from "#src/engagement/db/backfills.ts";
import type { AutomationRpcDeps } from "#src/engagement/operations/automation-rpc-dependencies.ts";
import { toBackfill } from "#src/engagement/operations/backfill-pages.ts";
import { parsePage, toCursor } from "#src/operations/parse-page.ts";
import { assertIds } from "./parse-automation-rule.ts";

/** Lists a page of the backfill jobs of a workspace, without their results. */
export async function listBackfills(
  { sql, cursorKeys }: Pick<AutomationRpcDeps, "sql" | "cursorKeys">,
  request: ListBackfillsRequest,
): Promise<MessageInitShape<typeof ListBackfillsResponseSchema>> {
  const { workspaceId } = request;
  assertIds(workspaceId);
  const scope = ["backfills", workspaceId];
  const page = parsePage(cursorKeys, scope, request);
  const rows = await listBackfillPage(sql, workspaceId, page);
  const jobs = rows.slice(0, page.limit);
  const last = rows.length > jobs.length ? jobs.at(-1) : undefined;
  return {
    backfills: jobs.map(toBackfill),
    ...(last === undefined ? {} : { nextCursor: toCursor(cursorKeys, scope, last.id) }),
  };
}
