import { longestTransferMs, TRANSFER_RATE } from "@postrider/shared/limits/minimum-rate";
import type { ISql, TransactionSql } from "@postrider/shared/postgres";
import type { MediaLease } from "#src/db/media-leases.ts";
import type { InspectedMedia, Patch } from "#src/domain/inspected-media.ts";
import type { Rejection, StoredMedia } from "#src/domain/stored-media.ts";

/** Time that an upload may take beyond the minimum rate, for example to make the bytes durable. */
const UPLOAD_GRACE_MS = 60 * 60_000;

export const COLUMNS = [
  "id",
  "workspace_id",
  "status",
  "kind",
  "content_type",
  "bytes",
  "width",
  "height",
  "duration_ms",
  "frames",
  "sha256",
  "file_name",
  "version",
  "object_key",
  "delivery_key",
  "delivery_patches",
  "delivery_bytes",
  "delivery_sha256",
  "delivery_content_type",
  "rejection",
  "alt_text",
  "cover_ms",
  "video",
  "ready_at",
  "created_at",
] as const;

/**
 * Leaves out media that were deleted before they were ready and whose direct upload may still
 * arrive.
 */
export async function listMediaByIds(
  sql: ISql,
  workspaceId: string,
  ids: readonly string[],
): Promise<readonly StoredMedia[]> {
  return await sql<StoredMedia[]>`
    select ${sql(COLUMNS)}
    from media
    where workspace_id = ${workspaceId}
    and id = any(${ids as string[]}::uuid[])
    and (status <> 'deleting' or ready_at is not null)`;
}

export async function findMedia(
  sql: ISql,
  workspaceId: string,
  id: string,
): Promise<StoredMedia | undefined> {
  const [row] = await listMediaByIds(sql, workspaceId, [id]);
  return row;
}

/** Keys of any files that the store must have, also of media that are deleted only later. */
export async function listStoredKeys(sql: ISql, limit: number): Promise<readonly string[]> {
  const rows = await sql<{ objectKey: string }[]>`
    select object_key
    from media
    where ready_at is not null
    and object_key is not null
    limit ${limit}`;
  return rows.map(({ objectKey }) => objectKey);
}

/** What was declared to CreateUpload. */
export interface NewUpload {
  readonly id: string;
  readonly workspaceId: string;
  readonly kind: "image" | "video";
  readonly contentType: string;
  readonly bytes: number;
  readonly fileName: string;
}

export async function insertUpload(tx: TransactionSql, upload: NewUpload): Promise<void> {
  await tx`
    insert into media (id, workspace_id, status, kind, content_type, bytes, file_name)
    values (
      ${upload.id}, ${upload.workspaceId}, 'pending', ${upload.kind}, ${upload.contentType},
      ${upload.bytes}, ${upload.fileName}
    )`;
}

export interface ObjectKeys {
  readonly objectKey: string;
  /** Null unless the inspection wrote a file of its own for the platforms. */
  readonly deliveryKey: string | null;
}

function toDeliveryColumns(media: InspectedMedia) {
  const { delivery } = media;
  const patches: readonly Patch[] | null = delivery.kind === "blanked" ? delivery.patches : null;
  const rewritten = delivery.kind === "rewritten" ? delivery : undefined;
  return {
    patches,
    bytes: rewritten?.bytes ?? media.bytes,
    sha256: delivery.kind === "same" ? media.sha256 : delivery.sha256,
    contentType: rewritten?.contentType ?? media.contentType,
  };
}

function toVideoColumn(tx: TransactionSql, { video }: InspectedMedia) {
  return video === undefined ? null : tx.json({ ...video });
}

export async function insertReadyMedia(
  tx: TransactionSql,
  { id, workspaceId, fileName }: Pick<NewUpload, "id" | "workspaceId" | "fileName">,
  media: InspectedMedia,
  keys: ObjectKeys,
): Promise<StoredMedia> {
  const delivery = toDeliveryColumns(media);
  const [row] = await tx<StoredMedia[]>`
    insert into media (
      id, workspace_id, status, kind, content_type, bytes, width, height, duration_ms, frames, sha256, file_name,
      object_key, delivery_key, delivery_patches, delivery_bytes, delivery_sha256, delivery_content_type, video,
      ready_at
    )
    values (
      ${id}, ${workspaceId}, 'ready', ${media.kind}, ${media.contentType}, ${media.bytes}, ${media.width},
      ${media.height}, ${media.durationMs}, ${media.frames}, ${media.sha256}, ${fileName}, ${keys.objectKey},
      ${keys.deliveryKey},
      ${delivery.patches === null ? null : tx.json([...delivery.patches] as never)}, ${delivery.bytes},
      ${delivery.sha256}, ${delivery.contentType}, ${toVideoColumn(tx, media)}, now()
    )
    returning ${tx(COLUMNS)}`;
  if (row === undefined) throw new Error("insert into media returned no row");
  return row;
}

/** Returns undefined when the check no longer holds its lease, or the media are deleted. */
export async function markReady(
  tx: TransactionSql,
  lease: MediaLease,
  media: InspectedMedia,
  keys: ObjectKeys,
): Promise<StoredMedia | undefined> {
  const delivery = toDeliveryColumns(media);
  const [row] = await tx<StoredMedia[]>`
    update media
    set status = 'ready',
      version = version + 1,
      kind = ${media.kind},
      content_type = ${media.contentType},
      bytes = ${media.bytes},
      width = ${media.width},
      height = ${media.height},
      duration_ms = ${media.durationMs},
      frames = ${media.frames},
      sha256 = ${media.sha256},
      object_key = ${keys.objectKey},
      delivery_key = ${keys.deliveryKey},
      delivery_patches = ${delivery.patches === null ? null : tx.json([...delivery.patches] as never)},
      delivery_bytes = ${delivery.bytes},
      delivery_sha256 = ${delivery.sha256},
      delivery_content_type = ${delivery.contentType},
      video = ${toVideoColumn(tx, media)},
      ready_at = now(),
      lease_token = null,
      lease_until = null
    where workspace_id = ${lease.workspaceId}
    and id = ${lease.id}
    and status = 'pending'
    and lease_token = ${lease.token}
    returning ${tx(COLUMNS)}`;
  return row;
}

/** Returns undefined when the check no longer holds its lease, or the media are deleted. */
export async function markRejected(
  sql: ISql,
  lease: MediaLease,
  rejection: Rejection,
): Promise<StoredMedia | undefined> {
  const [row] = await sql<StoredMedia[]>`
    update media
    set status = 'rejected',
      rejection = ${sql.json({ ...rejection })},
      lease_token = null,
      lease_until = null
    where workspace_id = ${lease.workspaceId}
    and id = ${lease.id}
    and status = 'pending'
    and lease_token = ${lease.token}
    returning ${sql(COLUMNS)}`;
  return row;
}

export interface ForgottenUploads {
  readonly pendingMs: number;
  readonly grantMs: number;
  readonly limit: number;
}

/**
 * Deletes media, with their upload grants, that have been pending for `pendingMs`, that no check
 * reads, and whose upload must have ended by its declared bytes.
 */
export async function deleteForgottenUploads(
  sql: ISql,
  { pendingMs, grantMs, limit }: ForgottenUploads,
): Promise<readonly Pick<StoredMedia, "id" | "objectKey">[]> {
  const beginMs = grantMs + UPLOAD_GRACE_MS + longestTransferMs(0);
  const msPerByte = 1000 / TRANSFER_RATE.bytesPerSecond;
  return await sql<Pick<StoredMedia, "id" | "objectKey">[]>`
    delete from media
    where id in (
      select id
      from media
      where status = 'pending'
      and created_at < now() - ${pendingMs} * interval '1 millisecond'
      and (
        object_key is not null
        or created_at < now() - (${beginMs} + bytes * ${msPerByte}::float8) * interval '1 millisecond'
      )
      and (lease_until is null or lease_until < now())
      order by created_at
      limit ${limit}
      for update skip locked
    )
    returning id, object_key`;
}
