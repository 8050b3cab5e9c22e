import type { ISql } from "@postrider/shared/postgres";

/** A post's version, and whether the post uses a certain media item. */
export interface MediaUseRow {
  readonly postId: string;
  readonly uses: boolean;
  readonly version: number;
}

/**
 * Reads the versions of posts and whether the posts use a certain media item. Posts that do not exist are missing in
 * the result.
 */
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
