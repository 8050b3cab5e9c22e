import { firstIdAt, NIL_ID } from "@postrider/shared/ids";
import type { ISql, Sql } from "@postrider/shared/postgres";
import { importedWorkspaces } from "@postrider/shared/workspaces/import-state";
import type { PostRef } from "#src/db/posts.ts";

export interface RemovedPost extends PostRef {
  readonly mediaIds: readonly string[];
}

export interface RemovalPage {
  /** The last post that was looked at; undefined after the last one. */
  readonly last: string | undefined;
  readonly removed: readonly RemovedPost[];
}

/**
 * Whether nothing can happen to a post any more: it has ended, none of its targets is being
 * deleted, and nothing has changed since. Drafts and scheduled posts stay.
 */
function isRemovable(sql: ISql, endedBefore: Date) {
  return sql`
    post.status in ('published', 'partial', 'failed', 'cancelled')
    and post.updated_at < ${endedBefore}
    and post.workspace_id not in (${importedWorkspaces(sql)})
    and not exists (
      select 1
      from targets
      where targets.post_id = post.id
      and targets.status in ('pending', 'publishing', 'deleting')
    )`;
}

/**
 * Looks at the next posts in the order of their creation, from the id `after`, and removes those
 * that are removable. The lock is taken before the removal, so a request that changes the post at
 * the same time either keeps it or finds it gone; a post that is locked stays until the next run.
 */
export async function removeOldPosts(
  sql: Sql,
  { endedBefore, after, limit }: { endedBefore: Date; after: string; limit: number },
): Promise<RemovalPage> {
  const rows = await sql<{ last: string | null; removed: RemovedPost[] }[]>`
    with page as materialized (
      select id
      from posts
      where id > ${after}
      and id < ${firstIdAt(endedBefore)}
      order by id
      limit ${limit}
    ),
    removable as materialized (
      select post.id
      from posts as post
      join page using (id)
      where ${isRemovable(sql, endedBefore)}
      order by post.id
      for update of post skip locked
    ),
    removed as (
      delete from posts as post
      using removable
      where post.id = removable.id
      returning post.workspace_id, post.id, post.media_ids
    )
    select
      (select id from page order by id desc limit 1) as last,
      coalesce((
        select jsonb_agg(jsonb_build_object('workspaceId', workspace_id, 'postId', id, 'mediaIds', media_ids))
        from removed
      ), '[]') as removed`;
  const [row] = rows;
  return { last: row?.last ?? undefined, removed: row?.removed ?? [] };
}

/** What the next run removes, and when the oldest of it was created. */
export async function countOldPosts(
  sql: Sql,
  endedBefore: Date,
): Promise<{ readonly count: number; readonly oldestAt: Date | null }> {
  const [row] = await sql<{ count: number; oldestAt: Date | null }[]>`
    select count(*)::int as count, min(post.created_at) as oldest_at
    from posts as post
    where post.id > ${NIL_ID}
    and post.id < ${firstIdAt(endedBefore)}
    and ${isRemovable(sql, endedBefore)}`;
  return row ?? { count: 0, oldestAt: null };
}
