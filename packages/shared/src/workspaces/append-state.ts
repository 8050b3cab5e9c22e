import { appendAudit, type AuditEntry } from "#src/audit/append.ts";
import { unavailable } from "#src/errors.ts";
import type { TransactionSql } from "#src/postgres.ts";

interface StateEntry extends Pick<AuditEntry, "details"> {
  readonly action:
    | "workspace.import"
    | "workspace.open_secrets"
    | "workspace.finish_import"
    | "workspace.remove";
}

/**
 * Adds a line of the audit log that says in which state a workspace is in this schema: the newest
 * such line counts.
 *
 * @throws `unavailable` while the database's clock, which has been set back, is behind an earlier
 *   line: the new one would not count.
 */
export async function appendState(
  tx: TransactionSql,
  workspaceId: string,
  { action, details = {} }: StateEntry,
): Promise<void> {
  const later = await tx`
    select
    from audit_log
    where workspace_id = ${workspaceId}
    and action in ('workspace.import', 'workspace.open_secrets', 'workspace.finish_import', 'workspace.remove')
    and at > clock_timestamp()
    limit 1`;
  if (later.length > 0)
    throw unavailable(
      new Error(
        `the clock of the database was set back: wait until it is past the newest line of the workspace ${workspaceId} in the audit log`,
      ),
    );
  const subject = { type: "workspace", id: workspaceId } as const;
  await appendAudit(tx, [{ action, subject, workspaceId, details }]);
}
