import type { ISql } from "@postrider/shared/postgres";
import type { StoredMedia } from "#src/domain/stored-media.ts";

/** Who works on media. */
export interface MediaLease {
  readonly workspaceId: string;
  readonly id: string;
  /** New for each claim: whoever lost the lease is told from whoever has it now. */
  readonly token: string;
}

/** Takes pending media for a check unless somebody else has them; the database's clock says until when. */
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

/** @returns false when somebody else has it by now, or the media is gone. */
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

/** Lets others begin at once. */
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

/** Media whose objects are to be removed. */
export type RemovableMedia = Pick<StoredMedia, "id" | "objectKey" | "deliveryKey"> & {
  readonly status: "deleting" | "rejected";
};

/**
 * Takes up to `limit` media of all workspaces whose objects are to be removed. Replicas take different ones, and what was
 * not done within the lease is taken again.
 */
export async function claimRemovable(
  sql: ISql,
  { leaseMs, limit }: { readonly leaseMs: number; readonly limit: number },
): Promise<readonly RemovableMedia[]> {
  return await sql<RemovableMedia[]>`
    update media
    set lease_until = now() + ${leaseMs} * interval '1 millisecond'
    where id in (
      select id
      from media
      where (status = 'deleting' or (status = 'rejected' and object_key is not null))
      and (lease_until is null or lease_until < now())
      order by lease_until nulls first
      limit ${limit}
      for update skip locked
    )
    returning id, status, object_key, delivery_key`;
}

/** The objects are gone: deleted media go with them, rejected ones stay to say why. */
export async function forgetObjects(sql: ISql, ids: readonly string[]): Promise<void> {
  await sql`
    with gone as (
      delete from media
      where id = any(${ids as string[]}::uuid[])
      and status = 'deleting'
    )
    update media
    set object_key = null,
      lease_until = null
    where id = any(${ids as string[]}::uuid[])
    and status = 'rejected'`;
}
