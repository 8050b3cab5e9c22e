import type { ISql, TransactionSql } from "@postrider/shared/postgres";
import { COLUMNS } from "#src/db/media.ts";
import type { StoredMedia } from "#src/domain/stored-media.ts";
import type { Usage } from "#src/domain/usage.ts";

export interface MediaRef {
  readonly workspaceId: string;
  readonly mediaId: string;
}

export interface NewUsage {
  readonly workspaceId: string;
  readonly mediaIds: readonly string[];
  readonly postId: string;
  readonly postVersion: number;
  readonly claimId: string;
}

/** The fields of `ReleaseMediaRequest`. */
export interface Release extends MediaRef {
  readonly postId: string;
  readonly postVersion: number | undefined;
  readonly claimId: string | undefined;
}

/**
 * Records that a post uses media, except media that are being deleted, and returns those that
 * exist. `for share` waits for a running deletion and then reads the new status; a later deletion
 * finds the record. To avoid deadlocks every transaction locks media before usages, and several
 * media in the order of their ids.
 */
export async function recordUsages(sql: ISql, use: NewUsage): Promise<readonly StoredMedia[]> {
  return await sql<StoredMedia[]>`
    with found as materialized (
      select ${sql(COLUMNS)}
      from media
      where workspace_id = ${use.workspaceId}
      and id = any(${use.mediaIds as string[]}::uuid[])
      and (status <> 'deleting' or ready_at is not null)
      order by id
      for share
    ),
    noted as (
      insert into media_usages (workspace_id, media_id, post_id, post_version, claim_id)
      select workspace_id, id, ${use.postId}::uuid, ${use.postVersion}::bigint, ${use.claimId}::uuid
      from found
      where status <> 'deleting'
      on conflict (media_id, post_id) do update
      set noted_at = excluded.noted_at,
        post_version = greatest(media_usages.post_version, excluded.post_version),
        claim_id = case when media_usages.claim_id = excluded.claim_id then excluded.claim_id end
    )
    select ${sql(COLUMNS)}
    from found`;
}

/** A record that a newer version of the post or another request has renewed is kept. */
export async function deleteReleased(sql: ISql, releases: readonly Release[]): Promise<void> {
  const rows = releases.map(({ workspaceId, mediaId, postId, postVersion, claimId }) => ({
    workspace_id: workspaceId,
    media_id: mediaId,
    post_id: postId,
    post_version: postVersion ?? null,
    claim_id: claimId ?? null,
  }));
  await sql`
    delete from media_usages
    where (media_id, post_id) in (
      select usage.media_id, usage.post_id
      from jsonb_to_recordset(${sql.json(rows)}) as release (
        workspace_id uuid, media_id uuid, post_id uuid, post_version bigint, claim_id uuid
      )
      join media_usages as usage on usage.workspace_id = release.workspace_id
        and usage.media_id = release.media_id
        and usage.post_id = release.post_id
      where (release.post_version is null or usage.post_version <= release.post_version)
      and (release.claim_id is null or usage.claim_id = release.claim_id)
      order by usage.media_id, usage.post_id
      for update of usage
    )`;
}

/**
 * Lists posts by id, beginning after the post `after`. The posts service never commits a post
 * version whose record is older than 5 minutes; under 10 minutes a record is young.
 */
export async function listUsages(
  sql: ISql,
  { workspaceId, mediaId }: MediaRef,
  page: { readonly after: string | undefined; readonly limit: number },
): Promise<readonly Usage[]> {
  return await sql<Usage[]>`
    select post_id, post_version, noted_at > now() - interval '10 minutes' as is_young
    from media_usages
    where workspace_id = ${workspaceId}
    and media_id = ${mediaId}
    ${page.after === undefined ? sql`` : sql`and post_id > ${page.after}`}
    order by post_id
    limit ${page.limit}`;
}

/** A record that was renewed after it was read is kept. */
export async function deleteUsages(
  sql: ISql,
  { workspaceId, mediaId }: MediaRef,
  usages: readonly Usage[],
): Promise<void> {
  if (usages.length === 0) return;
  const rows = usages.map(({ postId, postVersion, isYoung }) => ({
    post_id: postId,
    post_version: postVersion,
    is_young: isYoung,
  }));
  await sql`
    delete from media_usages as usage
    using jsonb_to_recordset(${sql.json(rows)}) as former (post_id uuid, post_version bigint, is_young boolean)
    where usage.workspace_id = ${workspaceId}
    and usage.media_id = ${mediaId}
    and usage.post_id = former.post_id
    and usage.post_version = former.post_version
    and (former.is_young or usage.noted_at <= now() - interval '10 minutes')`;
}

/** While the transaction holds the lock on the media, no post can be added. */
export async function hasUsages(
  tx: TransactionSql,
  { workspaceId, mediaId }: MediaRef,
): Promise<boolean> {
  const rows = await tx`
    select 1
    from media_usages
    where workspace_id = ${workspaceId}
    and media_id = ${mediaId}
    limit 1`;
  return rows.length > 0;
}
