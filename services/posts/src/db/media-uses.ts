import type { ISql } from "@postrider/shared/postgres";

/** A post, and whether it uses a certain item of media. */
export interface MediaUseRow {
  readonly postId: string;
  readonly uses: boolean;
  readonly version: number;
}

/** Returns the given posts that exist, with their versions and whether they use the media. */
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
