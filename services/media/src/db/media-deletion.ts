import type { ISql, Sql, TransactionSql } from "@postrider/shared/postgres";
import type { MediaRef } from "#src/db/media-usages.ts";
import { lastArrival } from "#src/db/upload-grants.ts";
import type { StoredMedia } from "#src/domain/stored-media.ts";

/**
 * Locks media, so that no post can start to use them: `recordUsages` waits until the transaction
 * ends and then reads the new status.
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

export async function markDeleting(
  tx: TransactionSql,
  { workspaceId, mediaId }: MediaRef,
): Promise<void> {
  await tx`
    update media
    set status = 'deleting',
      version = version + 1,
      lease_token = null,
      lease_until = null
    where workspace_id = ${workspaceId}
    and id = ${mediaId}`;
}

/**
 * Of a workspace that is being removed, whatever uses them. A check or upload that is under way
 * then no longer holds its lease. A file that may still arrive at a signed URL keeps its row until
 * then.
 */
export async function markWorkspaceDeleting(sql: Sql, workspaceId: string): Promise<void> {
  for (let count = 1; count > 0;)
    ({ count } = await sql`
      update media
      set status = 'deleting',
        version = version + 1,
        lease_token = null,
        lease_until = null
      where id in (
        select id
        from media
        where workspace_id = ${workspaceId}
        and status <> 'deleting'
        limit 1000
      )`);
}

type DeletedMedia = Pick<StoredMedia, "id" | "objectKey" | "deliveryKey">;

/**
 * Deletes pending or rejected media whose file may still arrive at a signed URL; undefined when the
 * media are ready or the URL has expired. Their row keeps the status deleting, so that the bytes
 * count as stored, until an upload that began before the URL expired must have ended. Then
 * remove-objects deletes the objects and the row.
 */
export async function deleteAwaited(
  sql: ISql,
  { workspaceId, mediaId }: MediaRef,
): Promise<DeletedMedia | undefined> {
  const [row] = await sql<DeletedMedia[]>`
    update media
    set status = 'deleting',
      lease_token = null,
      lease_until = ${lastArrival(sql)}
    from upload_grants
    where media.workspace_id = ${workspaceId}
    and media.id = ${mediaId}
    and media.status in ('pending', 'rejected')
    and upload_grants.media_id = media.id
    and upload_grants.expires_at > now()
    returning media.id, media.object_key, media.delivery_key`;
  return row;
}

/**
 * Deletes media that are not ready, with their upload grant; undefined when they have become ready.
 * A running upload or check then finds no row and deletes the objects that it wrote.
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

/** Returns those of the keys that a row of media or of a rendition contains. */
export async function listNamedObjects(
  sql: ISql,
  keys: readonly string[],
): Promise<readonly string[]> {
  const rows = await sql<{ key: string }[]>`
    select object_key as key
    from media
    where object_key = any(${keys as string[]}::text[])
    union all
    select delivery_key
    from media
    where delivery_key = any(${keys as string[]}::text[])
    union all
    select object_key
    from media_renditions
    where object_key = any(${keys as string[]}::text[])`;
  return rows.map(({ key }) => key);
}

/**
 * Returns those of the ids whose media are pending: their direct upload may exist before a row
 * names it.
 */
export async function listPendingIds(
  sql: ISql,
  ids: readonly string[],
): Promise<readonly string[]> {
  const rows = await sql<{ id: string }[]>`
    select id
    from media
    where id = any(${ids as string[]}::uuid[])
    and status = 'pending'`;
  return rows.map(({ id }) => id);
}

/**
 * Claims the next run of a job by the database's clock; false when the last run began less than
 * `intervalMs` ago. The row lock lets only one of several replicas win.
 */
export async function claimRun(sql: ISql, job: string, intervalMs: number): Promise<boolean> {
  const claimed = await sql`
    insert into job_runs (job, next_at)
    values (${job}, now() + ${intervalMs} * interval '1 millisecond')
    on conflict (job) do update
    set next_at = excluded.next_at
    where job_runs.next_at <= now()
    returning 1`;
  return claimed.length > 0;
}
