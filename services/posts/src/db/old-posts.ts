import { firstIdAt, NIL_ID } from "@postrider/shared/ids";
import type { ISql, Sql } from "@postrider/shared/postgres";
import { importedWorkspaces } from "@postrider/shared/workspaces/import-state";
import type { PostRef } from "#src/db/posts.ts";

export interface RemovedPost extends PostRef {
  readonly mediaIds: readonly string[];
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

/** The next posts in the order of their creation, from the id `after`. */
export async function listOldPosts(
  sql: Sql,
  { endedBefore, after, limit }: { endedBefore: Date; after: string; limit: number },
): Promise<readonly string[]> {
  const rows = await sql<{ id: string }[]>`
    select id
    from posts
    where id > ${after}
    and id < ${firstIdAt(endedBefore)}
    order by id
    limit ${limit}`;
  return rows.map(({ id }) => id);
}

/**
 * Removes those of the posts that are removable. The lock is taken before the removal, so a request
 * that changes the post at the same time either keeps it or finds it gone; a post that is locked
 * stays until the next run.
 */
export async function removeOldPosts(
  sql: Sql,
  ids: readonly string[],
  endedBefore: Date,
): Promise<readonly RemovedPost[]> {
  return await sql<RemovedPost[]>`
    with removable as materialized (
      select post.id
      from posts as post
      where post.id = any(${[...ids]}::uuid[])
      and ${isRemovable(sql, endedBefore)}
      order by post.id
      for update of post skip locked
    )
    delete from posts as post
    using removable
    where post.id = removable.id
    returning post.workspace_id, post.id as post_id, post.media_ids`;
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
