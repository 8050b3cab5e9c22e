import type { ISql, TransactionSql } from "@postrider/shared/postgres";

export interface ImportedWorkspace {
  readonly id: string;
  readonly name: string;
  readonly verified: boolean;
  readonly requestsPerMinute: number | null;
  readonly monthlyQuota: number | null;
  readonly dailyQuota: number | null;
  readonly createdAt: string;
}

export interface WorkspaceImportRow {
  readonly manifestSha256: string;
  /** Of the secret without which the import does not end; null if it is not part of a move. */
  readonly handoverHash: Uint8Array | null;
  /** Number of imported rows by file. */
  readonly progress: Readonly<Record<string, number>>;
}

/**
 * An import that is not finished by then is removed like a workspace whose deletion was asked for.
 * Less than the 90 days for which each audit log, which says that the import is open, is kept at
 * least, and than calls of imported rows rest.
 */
const MAX_IMPORT = "80 days";

/**
 * Creates the workspace in the state of one that is to be deleted, so that everything of it stands
 * still in all services. False if it exists.
 */
export async function insertImportedWorkspace(
  tx: TransactionSql,
  workspace: ImportedWorkspace,
): Promise<boolean> {
  const { count } = await tx`
    insert into workspaces (
      id, name, verified, requests_per_minute, monthly_quota, daily_quota, created_at, deletion_requested_at, removes_at
    )
    values (
      ${workspace.id}, ${workspace.name}, ${workspace.verified}, ${workspace.requestsPerMinute},
      ${workspace.monthlyQuota}, ${workspace.dailyQuota}, ${workspace.createdAt}, now(),
      now() + ${MAX_IMPORT}::interval
    )
    on conflict (id) do nothing`;
  return count > 0;
}

export async function insertImport(
  tx: TransactionSql,
  workspaceId: string,
  { manifestSha256, handoverHash }: Omit<WorkspaceImportRow, "progress">,
): Promise<void> {
  await tx`
    insert into workspace_imports (workspace_id, manifest_sha256, handover_hash)
    values (${workspaceId}, ${manifestSha256}, ${handoverHash})`;
}

/** SQL condition: no deletion of the workspace was requested, and its removal has not begun. */
function isOpen(sql: ISql) {
  return sql`
    not is_cancelled
    and exists (
      select
      from workspaces w
      where w.id = workspace_id
      and w.removes_at is not null
      and w.removal_began_at is null
    )`;
}

export async function findOpenImport(
  sql: ISql,
  workspaceId: string,
): Promise<WorkspaceImportRow | undefined> {
  const [row] = await sql<WorkspaceImportRow[]>`
    select manifest_sha256, handover_hash, progress
    from workspace_imports
    where workspace_id = ${workspaceId}
    and ${isOpen(sql)}`;
  return row;
}

/** Whether only a part of the workspace may be here: its import has not ended. */
export async function isPartial(sql: ISql, workspaceId: string): Promise<boolean> {
  const rows = await sql`select from workspace_imports where workspace_id = ${workspaceId}`;
  return rows.length > 0;
}

/** False when the workspace is not being imported. */
export async function setProgress(
  sql: ISql,
  workspaceId: string,
  { file, rows }: { readonly file: string; readonly rows: number },
): Promise<boolean> {
  const { count } = await sql`
    update workspace_imports
    set progress = progress || jsonb_build_object(${file}::text, ${rows}::int)
    where workspace_id = ${workspaceId}
    and ${isOpen(sql)}`;
  return count > 0;
}

export async function cancelImport(tx: TransactionSql, workspaceId: string): Promise<void> {
  await tx`update workspace_imports set is_cancelled = true where workspace_id = ${workspaceId}`;
}

/** False when the workspace is not being imported. */
export async function endImport(tx: TransactionSql, workspaceId: string): Promise<boolean> {
  const { count } = await tx`
    delete from workspace_imports
    where workspace_id = ${workspaceId}
    and ${isOpen(tx)}`;
  return count > 0;
}

/** Accounts without tokens, which exports do not contain. */
export async function insertEmptyCredentials(
  tx: TransactionSql,
  workspaceId: string,
): Promise<void> {
  await tx`
    insert into credentials (account_id, workspace_id, issued_at)
    select id, workspace_id, now()
    from accounts
    where workspace_id = ${workspaceId}
    on conflict (account_id) do nothing`;
}
