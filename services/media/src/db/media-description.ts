import type { ISql, TransactionSql } from "@postrider/shared/postgres";
import type { MediaRef } from "#src/db/media-usages.ts";
import { COLUMNS } from "#src/db/media.ts";
import type { DescriptionChange } from "#src/domain/media-description.ts";
import type { StoredMedia } from "#src/domain/stored-media.ts";

export interface DescribableMedia extends StoredMedia {
  readonly isPrepared: boolean;
  /** The post with which a platform may have received the media first. */
  readonly preparedFor: string | null;
}

/**
 * PrepareMedia writes the row before it reads the description: either it waits for this lock and
 * sends the new description, or this transaction sees that PrepareMedia was first.
 */
export async function lockDescribable(
  tx: TransactionSql,
  { workspaceId, mediaId }: MediaRef,
): Promise<DescribableMedia | undefined> {
  const [row] = await tx<DescribableMedia[]>`
    select ${tx(COLUMNS)}, prepared_at is not null as is_prepared, prepared_for
    from media
    where workspace_id = ${workspaceId}
    and id = ${mediaId}
    for update`;
  return row;
}

export async function updateDescription(
  sql: ISql,
  { workspaceId, mediaId }: MediaRef,
  { altText, coverMs }: DescriptionChange,
): Promise<StoredMedia> {
  const [row] = await sql<StoredMedia[]>`
    update media
    set version = version + 1,
      alt_text = ${altText === undefined ? sql`alt_text` : sql`${altText}`},
      cover_ms = ${coverMs === undefined ? sql`cover_ms` : sql`${coverMs}`}
    where workspace_id = ${workspaceId}
    and id = ${mediaId}
    returning ${sql(COLUMNS)}`;
  if (row === undefined) throw new Error("update of locked media returned no row");
  return row;
}

export async function markPrepared(
  sql: ISql,
  workspaceId: string,
  media: readonly { readonly mediaId: string; readonly postId: string | null }[],
): Promise<void> {
  const rows = [...new Map(media.map((each) => [each.mediaId, each])).values()];
  await sql`
    update media
    set prepared_at = now(),
      prepared_for = wanted.post_id
    from jsonb_to_recordset(${sql.json(rows.map(({ mediaId, postId }) => ({ id: mediaId, post_id: postId })))})
      as wanted (id uuid, post_id uuid)
    where media.workspace_id = ${workspaceId}
    and media.id = wanted.id
    and media.status = 'ready'
    and media.prepared_at is null`;
}
