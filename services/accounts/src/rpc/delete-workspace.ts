import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  CancelWorkspaceDeletionRequest,
  CancelWorkspaceDeletionResponseSchema,
  DeleteWorkspaceRequest,
  DeleteWorkspaceResponseSchema,
} from "@postrider/contracts/accounts/v1/workspace_service_pb";
import { appendAudit } from "@postrider/shared/audit/append";
import { conflict, invalidRequest, notFound } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import type { TransactionSql } from "@postrider/shared/postgres";
import { cancelImport, isPartial } from "#src/db/workspace-imports.ts";
import {
  clearRemovesAt,
  lockWorkspace,
  setRemovesAt,
  type WorkspaceRow,
} from "#src/db/workspaces.ts";
import type { Dependencies } from "#src/operations/dependencies.ts";
import { toWorkspace } from "#src/rpc/to-workspace.ts";

const MAX_GRACE_SECONDS = 365 * 86_400;

/** @throws `invalid_transition` when the removal has begun: a part of the data may be gone. */
export async function lockUnremoved(tx: TransactionSql, id: string): Promise<WorkspaceRow> {
  const workspace = isId(id) ? await lockWorkspace(tx, id) : undefined;
  if (workspace === undefined) throw notFound();
  if (workspace.removalBeganAt !== null) throw conflict("invalid_transition");
  return workspace;
}

export async function deleteWorkspace(
  { sql, settleMs }: Pick<Dependencies, "sql" | "settleMs">,
  { id, graceSeconds, name }: DeleteWorkspaceRequest,
): Promise<MessageInitShape<typeof DeleteWorkspaceResponseSchema>> {
  const grace = Number(graceSeconds);
  if (grace < 0 || grace > MAX_GRACE_SECONDS)
    throw invalidRequest([{ code: "out_of_range", path: "/graceSeconds" }]);
  const row = await sql.begin(async (tx) => {
    const before = await lockUnremoved(tx, id);
    // A move that has begun must end, or be cancelled, before the only copy goes.
    if (before.frozenAt !== null && before.movedAt === null) throw conflict("invalid_transition");
    if (grace === 0 && name !== before.name)
      throw invalidRequest([{ code: "wrong_name", path: "/name" }]);
    const after = await setRemovesAt(tx, id, { graceMs: grace * 1000, settleMs });
    await cancelImport(tx, id);
    const details = { removesAt: after.removesAt?.toISOString() };
    const subject = { type: "workspace", id } as const;
    await appendAudit(tx, [{ action: "workspace.delete", subject, workspaceId: id, details }]);
    return after;
  });
  return { workspace: toWorkspace(row) };
}

export async function cancelWorkspaceDeletion(
  { sql }: Pick<Dependencies, "sql">,
  { id }: CancelWorkspaceDeletionRequest,
): Promise<MessageInitShape<typeof CancelWorkspaceDeletionResponseSchema>> {
  const row = await sql.begin(async (tx) => {
    const before = await lockUnremoved(tx, id);
    if (before.removesAt === null) return before;
    // Half of a workspace must not begin to work.
    if (await isPartial(tx, id)) throw conflict("invalid_transition");
    const after = await clearRemovesAt(tx, id);
    const subject = { type: "workspace", id } as const;
    await appendAudit(tx, [{ action: "workspace.cancel_deletion", subject, workspaceId: id }]);
    return after;
  });
  return { workspace: toWorkspace(row) };
}
