import type { AuditEntry } from "#src/audit/append.ts";
import type { ISql, TransactionSql } from "#src/postgres.ts";
import { appendState } from "#src/workspaces/append-state.ts";

/**
 * Records that nothing of a workspace is left in this schema. The line is also how consumers know
 * later that a late event belongs to a removed workspace: the audit log keeps it for at least 90
 * days, and the bus keeps events for 14 days at most.
 */
export async function recordRemoval(
  tx: TransactionSql,
  workspaceId: string,
  details: NonNullable<AuditEntry["details"]>,
): Promise<void> {
  await appendState(tx, workspaceId, { action: "workspace.remove", details });
}

/**
 * SQL condition: the workspace with the id in this column or value was removed from this schema,
 * and not imported again since.
 */
export function isRemoved(sql: ISql, workspaceId: ReturnType<ISql>) {
  return sql`exists (
    select
    from audit_log removal
    where removal.workspace_id = ${workspaceId}
    and removal.action = 'workspace.remove'
    and not exists (
      select
      from audit_log import
      where import.workspace_id = removal.workspace_id
      and import.action = 'workspace.import'
      and import.at >= removal.at
    )
  )`;
}
