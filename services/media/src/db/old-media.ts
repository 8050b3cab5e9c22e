import { firstIdAt } from "@postrider/shared/ids";
import type { ISql, Sql } from "@postrider/shared/postgres";
import { readClock } from "@postrider/shared/postgres/clock";
import { importedWorkspaces } from "@postrider/shared/workspaces/import-state";
import type { Usage } from "#src/domain/usage.ts";

/** Media that a platform may have received long ago, with the posts that are recorded as users. */
export interface OldMedia {
  readonly mediaId: string;
  readonly workspaceId: string;
  readonly bytes: number;
  readonly usages: readonly Usage[];
  /** The database's time at which the usages were read, to the microsecond. */
  readonly readAt: string;
  /** What ended before this time is removed. */
  readonly endedBefore: Date;
}

/** Media with more users are kept, so that a page has a bounded size. */
const MAX_USAGES = 20;

/**
 * By id, from the id `after`. Media that no platform was given yet have not been published; nothing
 * removes them because of their age.
 */
export async function listOldMedia(
  sql: ISql,
  { days, after, limit }: { readonly days: number; readonly after: string; readonly limit: number },
): Promise<readonly OldMedia[]> {
  return await sql<OldMedia[]>`
    select m.id as media_id, m.workspace_id, m.bytes, now()::text as read_at,
      now() - ${days} * interval '1 day' as ended_before,
      coalesce((
        select jsonb_agg(jsonb_build_object(
          'postId', u.post_id, 'postVersion', u.post_version, 'isYoung', u.noted_at > now() - interval '10 minutes'
        ))
        from (
          select post_id, post_version, noted_at
          from media_usages
          where media_id = m.id
          limit ${MAX_USAGES + 1}
        ) as u
      ), '[]') as usages
    from media as m
    where m.status = 'ready'
    and m.prepared_at is not null
    and m.prepared_at < now() - ${days} * interval '1 day'
    and m.workspace_id not in (${importedWorkspaces(sql)})
    and m.id > ${after}
    order by m.id
    limit ${limit}`;
}

/**
 * The last users of the newest media. A younger one may not be stored yet. Imported media may have
 * ids from the future.
 */
export async function listNewestUsers(sql: ISql, limit: number): Promise<readonly string[]> {
  const end = firstIdAt(await readClock(sql));
  const rows = await sql<{ postId: string }[]>`
    select u.post_id
    from (select id from media where id < ${end} order by id desc limit 1000) as m
    join media_usages as u on u.media_id = m.id
    where u.noted_at between now() - interval '30 days' and now() - interval '10 minutes'
    order by u.noted_at desc
    limit ${limit}`;
  return rows.map(({ postId }) => postId);
}

export function hasTooManyUsages({ usages }: OldMedia): boolean {
  return usages.length > MAX_USAGES;
}

/**
 * Marks media as deleted unless a post has begun to use them since their usages were read. The lock
 * comes before the statement that looks: a post that records its use meanwhile waits for it and
 * then finds deleted media, and a use that was recorded earlier is seen.
 */
export async function markOldDeleting(sql: Sql, media: readonly OldMedia[]): Promise<number> {
  if (media.length === 0) return 0;
  const rows = media.flatMap(({ mediaId, readAt, usages }) =>
    [...usages.map(({ postId }) => postId), null].map((postId) => ({
      media_id: mediaId,
      post_id: postId,
      read_at: readAt,
    })),
  );
  return await sql.begin(async (tx) => {
    const ids = media.map(({ mediaId }) => mediaId);
    await tx`
      select id
      from media
      where id = any(${ids}::uuid[])
      order by id
      for update`;
    const { count } = await tx`
      with checked as (
        select media_id, post_id, read_at
        from jsonb_to_recordset(${tx.json(rows)}) as c (media_id uuid, post_id uuid, read_at timestamptz)
      )
      update media as m
      set status = 'deleting',
        version = version + 1,
        lease_token = null,
        lease_until = null
      where m.id in (select media_id from checked)
      and m.status = 'ready'
      and not exists (
        select
        from media_usages as u
        where u.media_id = m.id
        and not exists (
          select
          from checked as c
          where c.media_id = u.media_id
          and c.post_id = u.post_id
          and u.noted_at <= c.read_at
        )
      )`;
    return count;
  });
}

/** The files of rejected media are gone; the row says why. A draft that names them keeps it. */
export async function deleteOldRejected(sql: Sql, limit: number): Promise<number> {
  const { count } = await sql`
    delete from media
    where id in (
      select id
      from media as m
      where status = 'rejected'
      and object_key is null
      and created_at < now() - interval '30 days'
      and not exists (select from media_usages as u where u.media_id = m.id)
      limit ${limit}
      for update skip locked
    )`;
  return count;
}
