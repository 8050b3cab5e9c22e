import type { ISql } from "@postrider/shared/postgres";
import type { RenderedImage, Refusal } from "#src/domain/rendition-plan.ts";
import type { RenditionRow } from "#src/domain/stored-rendition.ts";

const COLUMNS = [
  "id",
  "plan",
  "status",
  "object_key",
  "content_type",
  "bytes",
  "sha256",
  "width",
  "height",
  "refusal",
] as const;

/** Returns the rows of those renditions of one media item whose plans are given as texts. */
export async function listRenditions(
  sql: ISql,
  {
    workspaceId,
    mediaId,
    plans,
  }: { workspaceId: string; mediaId: string; plans: readonly string[] },
): Promise<readonly RenditionRow[]> {
  return await sql<RenditionRow[]>`
    select ${sql(COLUMNS)}
    from media_renditions
    where workspace_id = ${workspaceId}
    and media_id = ${mediaId}
    and plan = any(${plans as string[]}::text[])`;
}

/** Returns the row of a rendition of ready media by its id. */
export async function findRendition(
  sql: ISql,
  { workspaceId, mediaId, id }: { workspaceId: string; mediaId: string; id: string },
): Promise<RenditionRow | undefined> {
  const [row] = await sql<RenditionRow[]>`
    select ${sql(COLUMNS)}
    from media_renditions
    where id = ${id}
    and workspace_id = ${workspaceId}
    and media_id = ${mediaId}
    and exists (select from media where media.id = ${mediaId} and media.status = 'ready')`;
  return row;
}

/** A lease on renditions of media: the exclusive right of one process to make them. */
export interface RenditionLease {
  readonly workspaceId: string;
  readonly mediaId: string;
  /** Random for each lease, so that a process that lost its lease cannot store its result. */
  readonly token: string;
}

/**
 * Gives a process the lease on those of the given renditions of ready media that no other process makes. The lease expires by the
 * database's clock.
 *
 * @returns The plans, as texts, of the renditions on which the process now holds the lease.
 */
export async function claimRenditions(
  sql: ISql,
  { workspaceId, mediaId, token }: RenditionLease,
  wanted: readonly { readonly id: string; readonly plan: string }[],
  leaseMs: number,
): Promise<readonly string[]> {
  // All callers insert their rows in the order of the plans, so that two callers never deadlock.
  const sorted = wanted.toSorted((a, b) => (a.plan < b.plan ? -1 : 1));
  const rows = await sql<{ plan: string }[]>`
    insert into media_renditions (id, workspace_id, media_id, plan, status, lease_token, lease_until)
    select
      wanted.id, media.workspace_id, media.id, wanted.plan, 'making', ${token}::uuid,
      now() + ${leaseMs} * interval '1 millisecond'
    from unnest(${sorted.map(({ id }) => id)}::uuid[], ${sorted.map(({ plan }) => plan)}::text[])
      with ordinality as wanted (id, plan, position)
    join media on media.id = ${mediaId} and media.workspace_id = ${workspaceId} and media.status = 'ready'
    order by wanted.position
    on conflict (media_id, plan) do update
    set lease_token = excluded.lease_token,
      lease_until = excluded.lease_until
    where media_renditions.status = 'making'
    and (media_renditions.lease_until is null or media_renditions.lease_until < now())
    returning plan`;
  return rows.map(({ plan }) => plan);
}

/**
 * Extends the lease on renditions.
 *
 * @returns false when this process holds the lease on none of the renditions any more.
 */
export async function renewRenditions(
  sql: ISql,
  { workspaceId, mediaId, token }: RenditionLease,
  leaseMs: number,
): Promise<boolean> {
  const renewed = await sql`
    update media_renditions
    set lease_until = now() + ${leaseMs} * interval '1 millisecond'
    where workspace_id = ${workspaceId}
    and media_id = ${mediaId}
    and lease_token = ${token}
    returning 1`;
  return renewed.length > 0;
}

/** Releases the lease on the renditions that were not made, so that another process can make them at once. */
export async function releaseRenditions(
  sql: ISql,
  { workspaceId, mediaId, token }: RenditionLease,
): Promise<void> {
  await sql`
    update media_renditions
    set lease_token = null,
      lease_until = null
    where workspace_id = ${workspaceId}
    and media_id = ${mediaId}
    and lease_token = ${token}`;
}

/** The stored file of a rendition. */
export interface RenditionFile extends RenderedImage {
  readonly objectKey: string;
  readonly sha256: string;
}

/**
 * Stores the file of a rendition. The lock on the media makes a concurrent deletion wait, which then also deletes this
 * file.
 *
 * @returns false when the process no longer holds its lease, or the media are deleted. The caller then deletes the file.
 */
export async function markMade(
  sql: ISql,
  { workspaceId, mediaId, token }: RenditionLease,
  plan: string,
  file: RenditionFile,
): Promise<boolean> {
  const made = await sql`
    with ready as (
      select id
      from media
      where id = ${mediaId}
      and workspace_id = ${workspaceId}
      and status = 'ready'
      for share
    )
    update media_renditions
    set status = 'made',
      object_key = ${file.objectKey},
      content_type = ${file.contentType},
      bytes = ${file.bytes},
      sha256 = ${file.sha256},
      width = ${file.width},
      height = ${file.height},
      lease_token = null,
      lease_until = null
    from ready
    where media_renditions.media_id = ready.id
    and media_renditions.plan = ${plan}
    and media_renditions.status = 'making'
    and media_renditions.lease_token = ${token}
    returning 1`;
  return made.length > 0;
}

/** Stores why a rendition cannot be made, after which no process tries to make it again. */
export async function markRefused(
  sql: ISql,
  { workspaceId, mediaId, token }: RenditionLease,
  plan: string,
  refusal: Refusal,
): Promise<void> {
  await sql`
    update media_renditions
    set status = 'refused',
      refusal = ${refusal},
      lease_token = null,
      lease_until = null
    where workspace_id = ${workspaceId}
    and media_id = ${mediaId}
    and plan = ${plan}
    and status = 'making'
    and lease_token = ${token}`;
}

/** Returns the object store keys of all renditions of deleted media. */
export async function listRenditionObjects(
  sql: ISql,
  mediaIds: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const rows = await sql<{ mediaId: string; objectKey: string }[]>`
    select media_id, object_key
    from media_renditions
    where media_id = any(${mediaIds as string[]}::uuid[])
    and object_key is not null`;
  const byMedia = Map.groupBy(rows, ({ mediaId }) => mediaId);
  return new Map([...byMedia].map(([id, own]) => [id, own.map(({ objectKey }) => objectKey)]));
}
