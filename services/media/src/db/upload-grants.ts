import { createHash, randomBytes } from "node:crypto";
import { longestTransferMs, TRANSFER_RATE } from "@postrider/shared/limits/minimum-rate";
import type { ISql, TransactionSql } from "@postrider/shared/postgres";

const TOKEN_BYTES = 32;

export function newUploadToken(): string {
  return randomBytes(TOKEN_BYTES).toString("base64url");
}

/** The token is random, so it needs no slow, salted hash. */
export function hashUploadToken(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}

/**
 * The time at which an upload to a signed URL must have ended if it began before the URL expired.
 * The query has the tables `media` and `upload_grants`.
 */
export function lastArrival(sql: ISql) {
  const msPerByte = 1000 / TRANSFER_RATE.bytesPerSecond;
  return sql`
    upload_grants.expires_at
      + (${longestTransferMs(0)} + media.bytes * ${msPerByte}::float8) * interval '1 millisecond'`;
}

/** The permission to upload one file, with the status of its media. */
export interface Grant {
  readonly mediaId: string;
  readonly workspaceId: string;
  readonly contentType: string;
  readonly bytes: number;
  readonly status: "pending" | "ready" | "rejected" | "deleting";
  readonly isUsed: boolean;
  readonly isExpired: boolean;
}

/** Returns when the grant expires, by the database's clock. */
export async function insertGrant(
  tx: TransactionSql,
  grant: {
    readonly mediaId: string;
    readonly workspaceId: string;
    readonly tokenSha256: Buffer;
    readonly validMs: number;
  },
): Promise<Date> {
  const [row] = await tx<{ expiresAt: Date }[]>`
    insert into upload_grants (media_id, workspace_id, token_sha256, expires_at)
    values (
      ${grant.mediaId}, ${grant.workspaceId}, ${grant.tokenSha256},
      now() + ${grant.validMs} * interval '1 millisecond'
    )
    returning expires_at`;
  if (row === undefined) throw new Error("insert into upload_grants returned no row");
  return row.expiresAt;
}

/** The token itself is not stored. Media deleted before they were ready have no upload grant. */
export async function findGrant(
  sql: ISql,
  mediaId: string,
  tokenSha256: Buffer,
): Promise<Grant | undefined> {
  const [row] = await sql<Grant[]>`
    select
      media.id as media_id, media.workspace_id, media.content_type, media.bytes, media.status,
      upload_grants.used_at is not null as is_used,
      upload_grants.expires_at <= now() as is_expired
    from upload_grants
    join media on media.id = upload_grants.media_id and media.workspace_id = upload_grants.workspace_id
    where upload_grants.media_id = ${mediaId}
    and upload_grants.token_sha256 = ${tokenSha256}
    and (media.status <> 'deleting' or media.ready_at is not null)`;
  return row;
}

/**
 * Marks a grant as used and stores the key of the object; false when it is used or its media are
 * deleted. Of several concurrent uploads one succeeds: the others wait for the row lock and find it
 * used.
 */
export async function spendGrant(sql: ISql, mediaId: string, objectKey: string): Promise<boolean> {
  const spent = await sql`
    with spent as (
      update upload_grants
      set used_at = now()
      where media_id = ${mediaId}
      and used_at is null
      returning media_id
    )
    update media
    set object_key = ${objectKey}
    from spent
    where media.id = spent.media_id
    and status = 'pending'
    and object_key is null
    returning 1`;
  return spent.length > 0;
}

/**
 * Accepts a direct upload as the file of the media and marks the grant as used; false when another
 * upload was accepted before. An expired grant is accepted, because the upload may have ended in
 * time.
 */
export async function pinUpload(sql: ISql, mediaId: string, objectKey: string): Promise<boolean> {
  const pinned = await sql`
    with spent as (
      update upload_grants
      set used_at = now()
      where media_id = ${mediaId}
      and used_at is null
    )
    update media
    set object_key = ${objectKey}
    where id = ${mediaId}
    and status = 'pending'
    and object_key is null
    returning 1`;
  return pinned.length > 0;
}
