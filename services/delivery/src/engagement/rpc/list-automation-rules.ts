import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  ListAutomationRulesRequest,
  ListAutomationRulesResponseSchema,
} from "@postrider/contracts/engagement/v1/automation_service_pb";
import { listRules } from "#src/engagement/db/automation-rules.ts";
import type { AutomationRpcDeps } from "#src/engagement/operations/automation-rpc-dependencies.ts";
import { parsePage, toCursor } from "#src/operations/parse-page.ts";
import { assertIds } from "./parse-automation-rule.ts";
import { toAutomationRule } from "./to-automation-rule.ts";

/** Lists a page of the automation rules of a workspace that are not revoked. */
export async function listAutomationRules(
  { sql, cursorKeys }: Pick<AutomationRpcDeps, "sql" | "cursorKeys">,
  request: ListAutomationRulesRequest,
): Promise<MessageInitShape<typeof ListAutomationRulesResponseSchema>> {
  const { workspaceId } = request;
  assertIds(workspaceId);
  const scope = ["automation rules", workspaceId];
  const page = parsePage(cursorKeys, scope, request);
  const rows = await listRules(sql, workspaceId, page);
  const rules = rows.slice(0, page.limit);
  const last = rows.length > rules.length ? rules.at(-1) : undefined;
  return {
    rules: rules.map(toAutomationRule),
    ...(last === undefined ? {} : { nextCursor: toCursor(cursorKeys, scope, last.id) }),
  };
}
