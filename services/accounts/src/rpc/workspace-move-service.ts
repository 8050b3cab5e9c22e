import { randomBytes } from "node:crypto";
import type { ServiceImpl } from "@connectrpc/connect";
import type {
  SwitchWorkspaceRequest,
  WorkspaceMoveService,
} from "@postrider/contracts/accounts/v1/workspace_move_service_pb";
import { appendAudit } from "@postrider/shared/audit/append";
import { conflict, invalidRequest, notFound } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import type { TransactionSql } from "@postrider/shared/postgres";
import {
  freezeWorkspaceById,
  switchWorkspaceById,
  unfreezeWorkspaceById,
} from "#src/db/workspace-moves.ts";
import { lockWorkspace, type WorkspaceRow } from "#src/db/workspaces.ts";
import type { Dependencies } from "#src/operations/dependencies.ts";
import { toWorkspace } from "#src/rpc/to-workspace.ts";

type Deps = Pick<Dependencies, "sql" | "otherCells">;

async function lock(tx: TransactionSql, id: string): Promise<WorkspaceRow> {
  const workspace = isId(id) ? await lockWorkspace(tx, id) : undefined;
  if (workspace === undefined) throw notFound();
  return workspace;
}

function auditOf(
  action: "workspace.freeze" | "workspace.cancel_move" | "workspace.switch",
  { id, movesTo: cell }: WorkspaceRow,
) {
  const subject = { type: "workspace", id } as const;
  return { action, subject, workspaceId: id, details: { cell } } as const;
}

async function freeze({ sql }: Deps, id: string, cell: string): Promise<WorkspaceRow> {
  return await sql.begin(async (tx) => {
    const before = await lock(tx, id);
    if (before.movesTo === cell && before.movedAt === null) return before;
    if (before.frozenAt !== null || before.removesAt !== null) throw conflict("invalid_transition");
    const after = await freezeWorkspaceById(tx, id, { cell, handover: randomBytes(32) });
    await appendAudit(tx, [auditOf("workspace.freeze", after)]);
    return after;
  });
}

async function cancel({ sql }: Deps, id: string): Promise<WorkspaceRow> {
  return await sql.begin(async (tx) => {
    const before = await lock(tx, id);
    if (before.movedAt !== null) throw conflict("invalid_transition");
    if (before.frozenAt === null) return before;
    await appendAudit(tx, [auditOf("workspace.cancel_move", before)]);
    return await unfreezeWorkspaceById(tx, id);
  });
}

/**
 * The handover secret is the proof that this cell will not publish for the workspace again. Its
 * hash goes to the other cell with the import; the secret leaves this one only once `moved_at` is
 * stored, after which no call makes the workspace work here. So whatever a person runs by hand, and
 * wherever a move is killed, the import in the other cell cannot end while this cell could still
 * publish. The name of that cell is a part of the hash, so that no import in a third one ends.
 */
async function switchOver(
  { sql }: Deps,
  { id, handoverHash, cell }: SwitchWorkspaceRequest,
): Promise<Buffer> {
  return await sql.begin(async (tx) => {
    const before = await lock(tx, id);
    if (before.movesTo !== cell || before.handoverHash?.equals(handoverHash) !== true)
      throw conflict("invalid_transition");
    if (before.movedAt === null) await appendAudit(tx, [auditOf("workspace.switch", before)]);
    return await switchWorkspaceById(tx, id);
  });
}

export function createWorkspaceMoveService(deps: Deps): ServiceImpl<typeof WorkspaceMoveService> {
  return {
    async freezeWorkspace({ id, cell }) {
      if (!deps.otherCells.has(cell))
        throw invalidRequest([
          { code: "unknown_cell", path: "/cell", allowed: [...deps.otherCells] },
        ]);
      return { workspace: toWorkspace(await freeze(deps, id, cell)) };
    },
    async cancelWorkspaceMove({ id }) {
      return { workspace: toWorkspace(await cancel(deps, id)) };
    },
    async switchWorkspace(request) {
      return { handover: await switchOver(deps, request) };
    },
  };
}
