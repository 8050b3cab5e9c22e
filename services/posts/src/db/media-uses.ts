import type { ISql } from "@postrider/shared/postgres";

export interface MediaUseRow {
  readonly postId: string;
  readonly uses: boolean;
  readonly version: number;
}

/** Posts that do not exist are missing in the result. */
export async function listMediaUses(
  sql: ISql,
  { workspaceId, mediaId }: { readonly workspaceId: string; readonly mediaId: string },
  postIds: readonly string[],
): Promise<readonly MediaUseRow[]> {
  return await sql<MediaUseRow[]>`
    select id as post_id, ${mediaId}::uuid = any(media_ids) as uses, version
    from posts
    where workspace_id = ${workspaceId}
    and id = any(${postIds as string[]}::uuid[])`;
}

export interface MediaNeedRow {
  readonly postId: string;
  readonly workspaceId: string;
  readonly version: number;
  readonly mediaIds: readonly string[];
  /** Null unless the post has ended. */
  readonly endedAt: Date | null;
}

/** Posts that do not exist are missing in the result. */
export async function listMediaNeeds(
  sql: ISql,
  postIds: readonly string[],
): Promise<readonly MediaNeedRow[]> {
  return await sql<MediaNeedRow[]>`
    select post.id as post_id, post.workspace_id, post.version, to_json(post.media_ids) as media_ids,
      case
        when post.status in ('published', 'partial', 'failed', 'cancelled') and not target.is_open
          then coalesce(target.published_at, post.updated_at)
      end as ended_at
    from posts as post
    cross join lateral (
      select max(published_at) as published_at,
        coalesce(bool_or(status in ('pending', 'publishing', 'deleting')), false) as is_open
      from targets
      where targets.post_id = post.id
    ) as target
    where post.id = any(${postIds as string[]}::uuid[])`;
}
