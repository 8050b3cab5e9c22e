import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type {
  DashboardSessionSchema,
  GetDashboardSessionRequest,
  GetDashboardSessionResponseSchema,
  ListDashboardSessionsRequest,
  ListDashboardSessionsResponseSchema,
} from "@postrider/contracts/accounts/v1/dashboard_service_pb";
import { notFound } from "@postrider/shared/errors";
import { assertIds } from "@postrider/shared/ids";
import type { ISql } from "@postrider/shared/postgres";
import { listSessions, type SessionLimits, type SessionRow } from "#src/db/dashboard-sessions.ts";
import { countWorkspaces, listWorkspacesByIds } from "#src/db/workspaces.ts";
import type { Dependencies } from "#src/operations/dependencies.ts";
import { toWorkspace } from "#src/rpc/to-workspace.ts";

function toSession(row: SessionRow): MessageInitShape<typeof DashboardSessionSchema> {
  const { key, scopes, createdAt, lastSeenAt, expiresAt, ...rest } = row;
  return {
    ...rest,
    scopes: [...scopes],
    createdAt: timestampFromDate(createdAt),
    lastSeenAt: timestampFromDate(lastSeenAt),
    expiresAt: timestampFromDate(expiresAt),
    ...(key === null ? {} : { key }),
  };
}

/** @throws `not_found`, also for a session of another workspace or that has ended. */
export async function readDashboardSession(
  sql: ISql,
  limits: SessionLimits,
  { workspaceId, id }: Pick<GetDashboardSessionRequest, "workspaceId" | "id">,
) {
  const [session] = await listSessions(sql, workspaceId, limits, id);
  const [workspace] = await listWorkspacesByIds(sql, [workspaceId]);
  if (session === undefined || workspace === undefined) throw notFound();
  return { session: toSession(session), workspace: toWorkspace(workspace) };
}

export async function getDashboardSession(
  { sql, sessionLimits }: Pick<Dependencies, "sql" | "sessionLimits">,
  request: GetDashboardSessionRequest,
): Promise<MessageInitShape<typeof GetDashboardSessionResponseSchema>> {
  assertIds(request.workspaceId, request.id);
  return await readDashboardSession(sql, sessionLimits, request);
}

export async function listDashboardSessions(
  { sql, sessionLimits }: Pick<Dependencies, "sql" | "sessionLimits">,
  { workspaceId }: ListDashboardSessionsRequest,
): Promise<MessageInitShape<typeof ListDashboardSessionsResponseSchema>> {
  assertIds(workspaceId);
  const rows = await listSessions(sql, workspaceId, sessionLimits);
  if (rows.length === 0 && (await countWorkspaces(sql, [workspaceId])) === 0) throw notFound();
  return { sessions: rows.map(toSession) };
}
