import type { ISql } from "@postrider/shared/postgres";
import { postColumns, type PostRef, type PostRow } from "#src/db/posts.ts";

export interface PostBatch {
  readonly posts: readonly PostRow[];
  /** Position from which on no post was read, because the batch was full. */
  readonly deferredFrom: number | undefined;
}

/** SQL: about how many bytes a post has in an answer. */
function estimatedBytes(sql: ISql) {
  return sql`
    octet_length(content) + octet_length(options::text) + 1000 * cardinality(media_ids) + (
      select coalesce(sum(1000 + 500 * least(attempt_count, 50)), 0)
      from targets
      where targets.workspace_id = posts.workspace_id
      and targets.post_id = posts.id
    )`;
}

/**
 * As many as fit into `maxBytes`, from the first on. Sizes are estimated before anything is read:
 * one workspace with large posts must not fill the memory of this process. The sizes of posts after
 * the first one that does not fit are not estimated: a caller that asks for the rest again and
 * again would make each of them be estimated each time.
 */
export async function listPostsUpTo(
  sql: ISql,
  refs: readonly PostRef[],
  maxBytes: number,
): Promise<PostBatch> {
  const posts = await sql<(PostRow & { readonly next: number })[]>`
    with recursive ref as materialized (
      select ${refs.map(({ workspaceId }) => workspaceId)}::uuid[] as workspace_ids,
        ${refs.map(({ postId }) => postId)}::uuid[] as ids
    ),
    fitting as (
      select 0 as next, null::uuid as workspace_id, null::uuid as id, false as is_any, 0::bigint as bytes
      union all
      select next + 1, size.workspace_id, size.id, is_any or size.id is not null,
        fitting.bytes + coalesce(size.bytes, 0)
      from fitting
      cross join ref
      left join lateral (
        select posts.workspace_id, posts.id, (${estimatedBytes(sql)})::bigint as bytes
        from posts
        where posts.workspace_id = workspace_ids[next + 1]
        and posts.id = ids[next + 1]
      ) as size on true
      where next < ${refs.length}
      and (not is_any or size.id is null or fitting.bytes + size.bytes <= ${maxBytes})
    )
    select ${postColumns(sql)}, (select max(next) from fitting) as next
    from fitting
    join posts as post on post.workspace_id = fitting.workspace_id and post.id = fitting.id
    order by fitting.next`;
  const next = posts[0]?.next ?? refs.length;
  return { posts, deferredFrom: next < refs.length ? next : undefined };
}
