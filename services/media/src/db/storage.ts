import type { ISql, TransactionSql } from "@postrider/shared/postgres";

/** A smaller file counts with this size: it also takes a row and a block of the disk. */
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
      (coalesce(sum(stored) filter (where status <> 'pending'), 0) + (
        select coalesce(sum(greatest(bytes, ${MIN_FILE_BYTES})), 0)
        from media_renditions
        where workspace_id = ${workspaceId}
        and bytes is not null
      ))::bigint as used_bytes,
      coalesce(sum(stored) filter (where status = 'pending'), 0)::bigint as reserved_bytes,
      count(*) filter (where status <> 'rejected' and delivery_bytes is null)::int as upload_count,
      count(*)::int as media_count,
      (select bytes from storage_limits where workspace_id = ${workspaceId}) as limit_bytes
    from (
      select status, delivery_bytes, case
        when status = 'rejected' and object_key is null then 0
        else greatest(bytes, ${MIN_FILE_BYTES})
          + case when delivery_key is null then 0 else greatest(delivery_bytes, ${MIN_FILE_BYTES}) end
      end as stored
      from media
      where workspace_id = ${workspaceId}
    ) as files`;
  if (row === undefined) throw new Error("the sum of stored bytes returned no row");
  return row;
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
