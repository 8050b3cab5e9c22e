import type { ISql, TransactionSql } from "@postrider/shared/postgres";

/** A smaller file counts with this size, as `file_bytes` in the database says. */
export const MIN_FILE_BYTES = 16_384;

export interface StoredBytes {
  /** Bytes of stored files and of their renditions, also of media that are being deleted. */
  readonly usedBytes: number;
  readonly reservedBytes: number;
  /** Number of uploads that are not complete, and of deleted ones whose file may still arrive. */
  readonly uploadCount: number;
  /** Number of rows, also of rejected media. */
  readonly mediaCount: number;
  readonly limitBytes: number | null;
}

/**
 * No other transaction can then store media for this workspace: otherwise two uploads could both
 * take the last free bytes.
 */
export async function lockStorage(tx: TransactionSql, workspaceId: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtext('media.storage'), hashtext(${workspaceId}))`;
}

export async function readStorage(sql: ISql, workspaceId: string): Promise<StoredBytes> {
  const [row] = await sql<StoredBytes[]>`
    select
      coalesce(sum(used_bytes), 0)::bigint as used_bytes,
      coalesce(sum(reserved_bytes), 0)::bigint as reserved_bytes,
      coalesce(sum(uploads), 0)::int as upload_count,
      coalesce(sum(files), 0)::int as media_count,
      (select bytes from storage_limits where workspace_id = ${workspaceId}) as limit_bytes
    from (
      select used_bytes, reserved_bytes, uploads, files
      from storage_usage
      where workspace_id = ${workspaceId}
      union all
      select used_bytes, reserved_bytes, uploads, files
      from storage_changes
      where workspace_id = ${workspaceId}
    ) as parts`;
  if (row === undefined) throw new Error("the sum of stored bytes returned no row");
  return row;
}

/** Under the lock of the storage. */
export async function addStorageChanges(tx: TransactionSql, workspaceId: string): Promise<void> {
  await tx`
    with further as (
      delete from storage_changes
      where workspace_id = ${workspaceId}
      returning used_bytes, reserved_bytes, uploads, files
    )
    select add_storage(
      ${workspaceId}, sum(used_bytes)::bigint, sum(reserved_bytes)::bigint, sum(uploads)::int, sum(files)::int
    )
    from further
    having count(*) > 0`;
}

export async function setStorageLimit(
  sql: ISql,
  workspaceId: string,
  bytes: number | null,
): Promise<void> {
  if (bytes === null) await sql`delete from storage_limits where workspace_id = ${workspaceId}`;
  else
    await sql`
      insert into storage_limits (workspace_id, bytes)
      values (${workspaceId}, ${bytes})
      on conflict (workspace_id) do update
      set bytes = excluded.bytes`;
}
