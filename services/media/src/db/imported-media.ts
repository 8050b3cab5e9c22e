import type { ISql, TransactionSql } from "@postrider/shared/postgres";
import type { StoredMedia } from "#src/domain/stored-media.ts";

/** Media of any workspace, because ids are unique in the whole installation. */
export async function lockAnyMedia(
  tx: TransactionSql,
  id: string,
): Promise<Pick<StoredMedia, "workspaceId" | "status"> | undefined> {
  const [row] = await tx<Pick<StoredMedia, "workspaceId" | "status">[]>`
    select workspace_id, status
    from media
    where id = ${id}
    for update`;
  return row;
}

/** `row`: that of the export, as JSON. What the check has found in the file stays. */
export async function describeImported(
  sql: ISql,
  {
    workspaceId,
    id,
    row,
  }: { readonly workspaceId: string; readonly id: string; readonly row: string },
): Promise<void> {
  await sql`
    update media
    set created_at = r.created_at,
      ready_at = coalesce(r.ready_at, media.ready_at),
      alt_text = r.alt_text,
      cover_ms = r.cover_ms,
      prepared_at = r.prepared_at,
      prepared_for = r.prepared_for
    from jsonb_populate_record(null::media, ${row}::text::jsonb) as r
    where media.workspace_id = ${workspaceId}
    and media.id = ${id}
    and media.status = 'ready'`;
}
