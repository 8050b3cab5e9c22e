import type { ISql, TransactionSql } from "@postrider/shared/postgres";
import type { MediaRef } from "#src/db/media-usages.ts";
import type { StoredMedia } from "#src/domain/stored-media.ts";

/**
 * Locks media against new usages: whoever notes one waits until the transaction ends, and then sees what became of them.
 */
export async function lockMedia(
  tx: TransactionSql,
  { workspaceId, mediaId }: MediaRef,
): Promise<Pick<StoredMedia, "status"> | undefined> {
  const [row] = await tx<Pick<StoredMedia, "status">[]>`
    select status
    from media
    where workspace_id = ${workspaceId}
    and id = ${mediaId}
    for update`;
  return row;
}

/** Media that are being deleted, as the event tells. */
export interface DeletingMedia {
  readonly workspaceId: string;
  readonly id: string;
  readonly version: number;
  readonly occurredAt: Date;
}

/** Marks locked media: from here on a job removes the objects and then the row. */
export async function markDeleting(
  tx: TransactionSql,
  { workspaceId, mediaId }: MediaRef,
): Promise<readonly DeletingMedia[]> {
  return await tx<DeletingMedia[]>`
    update media
    set status = 'deleting',
      version = version + 1,
      lease_token = null,
      lease_until = null
    where workspace_id = ${workspaceId}
    and id = ${mediaId}
    returning workspace_id, id, version, now() as occurred_at`;
}

/** Where the bytes of deleted media are, or were. */
export type DeletedMedia = Pick<StoredMedia, "id" | "objectKey" | "deliveryKey">;

/**
 * Deletes media that never became ready, with their grant; undefined when they did in the meantime. A check or an upload
 * that is under way finds nothing to write to, and removes what it made.
 */
export async function deleteUnready(
  sql: ISql,
  { workspaceId, mediaId }: MediaRef,
): Promise<DeletedMedia | undefined> {
  const [row] = await sql<DeletedMedia[]>`
    delete from media
    where workspace_id = ${workspaceId}
    and id = ${mediaId}
    and status in ('pending', 'rejected')
    returning id, object_key, delivery_key`;
  return row;
}
