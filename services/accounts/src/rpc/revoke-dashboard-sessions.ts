import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  RevokeDashboardSessionsRequest,
  RevokeDashboardSessionsResponseSchema,
} from "@postrider/contracts/accounts/v1/dashboard_service_pb";
import { appendAudit } from "@postrider/shared/audit/append";
import { notFound } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import { deleteSessions } from "#src/db/dashboard-sessions.ts";
import { countWorkspaces } from "#src/db/workspaces.ts";
import type { Dependencies } from "#src/operations/dependencies.ts";

/** Takes effect within 2 s, when the answers that gateways keep expire. */
export async function revokeDashboardSessions(
  { sql }: Pick<Dependencies, "sql">,
  { workspaceId, id }: RevokeDashboardSessionsRequest,
): Promise<MessageInitShape<typeof RevokeDashboardSessionsResponseSchema>> {
  if (!isId(workspaceId) || (id !== undefined && !isId(id))) throw notFound();
  return await sql.begin(async (tx) => {
    const ids = await deleteSessions(tx, workspaceId, id ?? null);
    if (ids.length === 0 && (id !== undefined || (await countWorkspaces(tx, [workspaceId])) === 0))
      throw notFound();
    const entries = ids.map((sessionId) => {
      const subject = { type: "session", id: sessionId } as const;
      return { action: "session.revoke", subject, workspaceId } as const;
    });
    await appendAudit(tx, entries);
    return { count: ids.length };
  });
}
