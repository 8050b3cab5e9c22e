import { appendAudit } from "#src/audit/append.ts";
import { conflict } from "#src/errors.ts";
import type { ISql, TransactionSql } from "#src/postgres.ts";

type ImportAction = "workspace.import" | "workspace.finish_import";

/**
 * Whether the rows of a workspace are being imported into this schema. The audit log says it, as it
 * says that a workspace was removed: the newest of these lines of the workspace counts.
 */
export async function isImporting(sql: ISql, workspaceId: string): Promise<boolean> {
  const [row] = await sql<{ action: string }[]>`
    select action
    from audit_log
    where workspace_id = ${workspaceId}
    and action in ('workspace.import', 'workspace.finish_import', 'workspace.remove')
    order by at desc, id desc
    limit 1`;
  return row?.action === "workspace.import";
}

/** @throws `invalid_transition` */
export async function assertImporting(sql: ISql, workspaceId: string): Promise<void> {
  if (!(await isImporting(sql, workspaceId))) throw conflict("invalid_transition");
}

export async function recordImport(
  tx: TransactionSql,
  workspaceId: string,
  action: ImportAction,
): Promise<void> {
  const subject = { type: "workspace", id: workspaceId } as const;
  await appendAudit(tx, [{ action, subject, workspaceId }]);
}
