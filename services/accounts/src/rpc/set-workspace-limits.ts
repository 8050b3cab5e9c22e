import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  SetWorkspaceLimitsRequest,
  SetWorkspaceLimitsResponseSchema,
} from "@postrider/contracts/accounts/v1/workspace_service_pb";
import { appendAudit } from "@postrider/shared/audit/append";
import { invalidRequest, notFound } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import { lockWorkspace, setWorkspaceLimitsById, type WorkspaceRow } from "#src/db/workspaces.ts";
import { limitViolations } from "#src/domain/limits.ts";
import type { Dependencies } from "#src/operations/dependencies.ts";
import { toWorkspace } from "#src/rpc/to-workspace.ts";

function limitsOf({ requestsPerMinute, monthlyQuota, dailyQuota }: WorkspaceRow) {
  return { requestsPerMinute, monthlyQuota, dailyQuota };
}

export async function setWorkspaceLimits(
  { sql }: Pick<Dependencies, "sql">,
  { id, limits }: SetWorkspaceLimitsRequest,
): Promise<MessageInitShape<typeof SetWorkspaceLimitsResponseSchema>> {
  const violations = limitViolations(limits ?? {});
  if (violations.length > 0) throw invalidRequest(violations);
  const row = await sql.begin(async (tx) => {
    const before = isId(id) ? await lockWorkspace(tx, id) : undefined;
    if (before === undefined) throw notFound();
    const after = await setWorkspaceLimitsById(tx, id, limits ?? {});
    const subject = { type: "workspace", id } as const;
    const details = { before: limitsOf(before), after: limitsOf(after) };
    await appendAudit(tx, [{ action: "workspace.set_limits", subject, workspaceId: id, details }]);
    return after;
  });
  return { workspace: toWorkspace(row) };
}
