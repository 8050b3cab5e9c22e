import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  BatchGetWorkspacesRequest,
  BatchGetWorkspacesResponseSchema,
  CreateWorkspaceRequest,
  CreateWorkspaceResponseSchema,
  ListWorkspacesResponseSchema,
  SetWorkspaceLimitsRequest,
  SetWorkspaceLimitsResponseSchema,
  VerifyWorkspaceRequest,
  VerifyWorkspaceResponseSchema,
} from "@postrider/contracts/accounts/v1/workspace_service_pb";
import { appendAudit } from "@postrider/shared/audit/append";
import { invalidRequest, notFound } from "@postrider/shared/errors";
import { isId, newId } from "@postrider/shared/ids";
import {
  describeInstallation,
  insertWorkspace,
  listAllWorkspaces,
  listWorkspacesByIds,
  lockWorkspace,
  setWorkspaceLimitsById,
  verifyWorkspaceById,
  type WorkspaceRow,
} from "#src/db/workspaces.ts";
import { limitViolations } from "#src/domain/limits.ts";
import { isName } from "#src/domain/names.ts";
import type { Dependencies } from "#src/operations/dependencies.ts";
import { toWorkspace } from "#src/rpc/to-workspace.ts";

export async function createWorkspace(
  { sql }: Pick<Dependencies, "sql">,
  { name, verified }: CreateWorkspaceRequest,
): Promise<MessageInitShape<typeof CreateWorkspaceResponseSchema>> {
  if (!isName(name)) throw invalidRequest([{ code: "invalid_name", path: "/name" }]);
  const id = newId();
  const row = await sql.begin(async (tx) => {
    const subject = { type: "workspace", id } as const;
    const details = { name, verified };
    await appendAudit(tx, [{ action: "workspace.create", subject, workspaceId: id, details }]);
    return await insertWorkspace(tx, { id, name, verified });
  });
  return row === undefined ? {} : { workspace: toWorkspace(row) };
}

export async function listWorkspaces({
  sql,
}: Pick<Dependencies, "sql">): Promise<MessageInitShape<typeof ListWorkspacesResponseSchema>> {
  const rows = await listAllWorkspaces(sql);
  return { workspaces: rows.map(toWorkspace) };
}

const MAX_IDS = 500;

export async function batchGetWorkspaces(
  { sql }: Pick<Dependencies, "sql">,
  request: BatchGetWorkspacesRequest,
): Promise<MessageInitShape<typeof BatchGetWorkspacesResponseSchema>> {
  if (request.ids.length > MAX_IDS) throw invalidRequest([{ code: "too_many", path: "/ids" }]);
  const [rows, { isOfSeveral, highestDailyQuota }] = await Promise.all([
    listWorkspacesByIds(sql, request.ids.filter(isId)),
    describeInstallation(sql),
  ]);
  return {
    workspaces: rows.map(toWorkspace),
    hasSeveralWorkspaces: isOfSeveral,
    ...(highestDailyQuota === null ? {} : { highestDailyQuota }),
  };
}

export async function verifyWorkspace(
  { sql }: Pick<Dependencies, "sql">,
  { id }: VerifyWorkspaceRequest,
): Promise<MessageInitShape<typeof VerifyWorkspaceResponseSchema>> {
  const row = await sql.begin(async (tx) => {
    const before = isId(id) ? await lockWorkspace(tx, id) : undefined;
    if (before === undefined) throw notFound();
    if (before.verified) return before;
    const subject = { type: "workspace", id } as const;
    await appendAudit(tx, [{ action: "workspace.verify", subject, workspaceId: id }]);
    return await verifyWorkspaceById(tx, id);
  });
  return { workspace: toWorkspace(row) };
}

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
