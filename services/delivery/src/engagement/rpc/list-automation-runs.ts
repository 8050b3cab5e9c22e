import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  ListAutomationRunsRequest,
  ListAutomationRunsResponseSchema,
} from "@postrider/contracts/engagement/v1/automation_service_pb";
import { invalidRequest, notFound } from "@postrider/shared/errors";
import { findRule } from "#src/engagement/db/automation-rules.ts";
import { listRunPage, RUN_STATUSES } from "#src/engagement/db/automation-runs.ts";
import type { AutomationRpcDeps } from "#src/engagement/operations/automation-rpc-dependencies.ts";
import { toAutomationRun } from "#src/engagement/operations/list-automation-runs.ts";
import { parsePage, toCursor } from "#src/operations/parse-page.ts";
import { assertIds } from "./parse-automation-rule.ts";

/** Lists a page of the runs of a workspace or of one automation rule, also of a revoked one. */
export async function listAutomationRuns(
  { sql, cursorKeys }: Pick<AutomationRpcDeps, "sql" | "cursorKeys">,
  request: ListAutomationRunsRequest,
): Promise<MessageInitShape<typeof ListAutomationRunsResponseSchema>> {
  const { workspaceId, ruleId, status: wanted } = request;
  assertIds(workspaceId, ...(ruleId === "" ? [] : [ruleId]));
  const status = RUN_STATUSES.find((each) => each === wanted);
  if (wanted !== "" && status === undefined)
    throw invalidRequest([{ code: "invalid", path: "/status" }]);
  const scope = ["automation runs", workspaceId, ruleId, wanted];
  const page = parsePage(cursorKeys, scope, request);
  if (ruleId !== "" && (await findRule(sql, workspaceId, ruleId)) === undefined) throw notFound();
  const filter = { ruleId: ruleId === "" ? undefined : ruleId, status };
  const rows = await listRunPage(sql, workspaceId, { ...page, ...filter });
  const runs = rows.slice(0, page.limit);
  const last = rows.length > runs.length ? runs.at(-1) : undefined;
  return {
    runs: runs.map(toAutomationRun),
    ...(last === undefined ? {} : { nextCursor: toCursor(cursorKeys, scope, last.id) }),
  };
}
