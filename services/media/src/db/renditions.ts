import type { ISql } from "@postrider/shared/postgres";
import type { Refusal, RenderedImage, RenditionRow } from "#src/domain/rendition-plan.ts";

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

/** The exclusive right of one process to make renditions of media. */
export interface RenditionLease {
  readonly workspaceId: string;
  readonly mediaId: string;
  /** Random, so that a process that lost its lease cannot store its result. */
  readonly token: string;
}

/**
 * Returns the plans on which the process now holds the lease, which expires by the database's
 * clock.
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

/** Returns false when this process holds the lease on none of the renditions any more. */
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

/** Another process can then make the renditions at once. */
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

export interface RenditionFile extends RenderedImage {
  readonly objectKey: string;
  readonly sha256: string;
}

/**
 * Returns false when the process no longer holds its lease, or the media are deleted; the caller
 * then deletes the file. The lock on the media makes a concurrent deletion wait, which then also
 * deletes this file.
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
