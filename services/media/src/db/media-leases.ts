import type { ISql, SqlFragment } from "@postrider/shared/postgres";
import { listNextWorkspaces } from "@postrider/shared/postgres/next-workspaces";
import { lastArrival } from "#src/db/upload-grants.ts";
import type { StoredMedia } from "#src/domain/stored-media.ts";

/** The exclusive right of one upload check to check the uploaded file. */
export interface MediaLease {
  readonly workspaceId: string;
  readonly id: string;
  /** Random, so that an upload check that lost its lease cannot write its result. */
  readonly token: string;
}

/** Returns false when another check holds the lease, which expires by the database's clock. */
export async function claimPending(
  sql: ISql,
  { workspaceId, id, token }: MediaLease,
  leaseMs: number,
): Promise<boolean> {
  const claimed = await sql`
    update media
    set lease_token = ${token},
      lease_until = now() + ${leaseMs} * interval '1 millisecond'
    where workspace_id = ${workspaceId}
    and id = ${id}
    and status = 'pending'
    and (lease_until is null or lease_until < now())
    returning 1`;
  return claimed.length > 0;
}

/** Returns false when another check has taken over the lease, or the media are deleted. */
export async function renewLease(
  sql: ISql,
  { workspaceId, id, token }: MediaLease,
  leaseMs: number,
): Promise<boolean> {
  const renewed = await sql`
    update media
    set lease_until = now() + ${leaseMs} * interval '1 millisecond'
    where workspace_id = ${workspaceId}
    and id = ${id}
    and lease_token = ${token}
    returning 1`;
  return renewed.length > 0;
}

/** Another check of the media can then start at once. */
export async function releaseLease(
  sql: ISql,
  { workspaceId, id, token }: MediaLease,
): Promise<void> {
  await sql`
    update media
    set lease_token = null,
      lease_until = null
    where workspace_id = ${workspaceId}
    and id = ${id}
    and lease_token = ${token}`;
}

export type RemovableMedia = Pick<StoredMedia, "id" | "objectKey" | "deliveryKey"> & {
  readonly status: "deleting" | "rejected";
};

export function isRemovable(sql: ISql) {
  return sql`
    (status = 'deleting' or (status = 'rejected' and object_key is not null))
    and (lease_until is null or lease_until < now())`;
}

/**
 * Lists workspaces whose media can be claimed, in the order of their ids. Each step passes over all
 * other media of a workspace.
 */
export async function listRemovableWorkspaces(
  sql: ISql,
  after: string,
  limit: number,
): Promise<readonly string[]> {
  const next = (previous: SqlFragment) => sql`
    select workspace_id
    from media
    where workspace_id > ${previous}
    and ${isRemovable(sql)}
    order by workspace_id
    limit 1`;
  return await listNextWorkspaces(sql, next, after, limit);
}

/**
 * Claims media whose objects have to be deleted, about as many of each workspace. `skip locked`
 * gives each replica different rows; media are claimed again when an earlier claim has expired.
 */
export async function claimRemovable(
  sql: ISql,
  workspaceIds: readonly string[],
  { leaseMs, limit }: { readonly leaseMs: number; readonly limit: number },
): Promise<readonly RemovableMedia[]> {
  return await sql<RemovableMedia[]>`
    update media
    set lease_until = now() + ${leaseMs} * interval '1 millisecond'
    where id in (
      select own.id
      from unnest(${[...workspaceIds]}::uuid[]) as workspace (id)
      cross join lateral (
        select id
        from media
        where workspace_id = workspace.id
        and ${isRemovable(sql)}
        order by lease_until nulls first
        limit ${Math.ceil(limit / workspaceIds.length)}
        for update skip locked
      ) as own
    )
    returning id, status, object_key, delivery_key`;
}

/**
 * Deletes the rows of deleted media and their renditions after their objects; rows of rejected
 * media stay with the reason.
 *
 * If a file may still arrive at a signed URL, the row stays, hidden from clients, so that its bytes
 * count as stored. When an upload that began before the URL expired must have ended, remove-objects
 * deletes the file and calls this function again.
 */
export async function forgetObjects(
  sql: ISql,
  ids: readonly string[],
  { hasUploadUrls }: { readonly hasUploadUrls: boolean },
): Promise<void> {
  await sql`
    with awaited as (
      update media
      set lease_until = ${lastArrival(sql)},
        ready_at = null,
        delivery_key = null,
        delivery_bytes = null
      from upload_grants
      where media.id = any(${ids as string[]}::uuid[])
      and media.status in ('deleting', 'rejected')
      and upload_grants.media_id = media.id
      and ${hasUploadUrls}
      and ${lastArrival(sql)} > now()
      returning media.id
    ),
    without_renditions as (
      delete from media_renditions
      where media_id in (select id from awaited)
    ),
    gone as (
      delete from media
      where id = any(${ids as string[]}::uuid[])
      and status = 'deleting'
      and id not in (select id from awaited)
    )
    update media
    set object_key = null,
      lease_until = null
    where id = any(${ids as string[]}::uuid[])
    and status = 'rejected'
    and id not in (select id from awaited)`;
}

/** Uploads and imports that are being checked: their media can become ready. In words. */
export async function listOpenChecks(sql: ISql, workspaceId: string): Promise<readonly string[]> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count
    from media
    where workspace_id = ${workspaceId}
    and status = 'pending'
    and lease_until > now()`;
  return row === undefined || row.count === 0 ? [] : [`${row.count} checks of files`];
}
