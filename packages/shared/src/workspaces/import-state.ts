import { conflict } from "#src/errors.ts";
import type { ISql, TransactionSql } from "#src/postgres.ts";
import { appendState } from "#src/workspaces/append-state.ts";

type ImportAction = "workspace.import" | "workspace.finish_import";

/**
 * SQL query: the workspaces whose rows are being imported into this schema. The audit log says it,
 * as it says that a workspace was removed: the newest of these lines of a workspace counts. What
 * removes old rows leaves those of such a workspace alone, because the rows that need them may not
 * be there yet.
 */
export function importedWorkspaces(sql: ISql) {
  return sql`
    select begun.workspace_id
    from audit_log begun
    where begun.action = 'workspace.import'
    and not exists (
      select
      from audit_log ended
      where ended.workspace_id = begun.workspace_id
      and ended.action in ('workspace.finish_import', 'workspace.remove')
      and (ended.at, ended.id) > (begun.at, begun.id)
    )`;
}

export async function isImporting(sql: ISql, workspaceId: string): Promise<boolean> {
  const [row] = await sql<[{ isImporting: boolean }]>`
    select ${workspaceId}::uuid in (${importedWorkspaces(sql)}) as is_importing`;
  return row.isImporting;
}

/** @throws `invalid_transition` */
export async function assertImporting(sql: ISql, workspaceId: string): Promise<void> {
  if (!(await isImporting(sql, workspaceId))) throw conflict("invalid_transition");
}

/** Whether the workspace arrives with a move: its old cell has sealed the secrets for this one. */
export async function hasOpenedSecrets(sql: ISql, workspaceId: string): Promise<boolean> {
  const rows = await sql`
    select
    from audit_log opened
    where opened.workspace_id = ${workspaceId}
    and opened.action = 'workspace.open_secrets'
    and not exists (
      select
      from audit_log begun
      where begun.workspace_id = opened.workspace_id
      and begun.action = 'workspace.import'
      and (begun.at, begun.id) > (opened.at, opened.id)
    )
    limit 1`;
  return rows.length > 0;
}

export async function recordImport(
  tx: TransactionSql,
  workspaceId: string,
  action: ImportAction,
): Promise<void> {
  await appendState(tx, workspaceId, { action });
}
