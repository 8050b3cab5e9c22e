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

/**
 * Returns the SQL condition under which a statement may store a post that uses media. The media service drops a claim
 * on media after 10 minutes if the post does not exist, so a process that was suspended for longer must not store the
 * post. The condition already fails after 5 minutes, because the commit still takes some time.
 *
 * @param notedAfter The database's time, read before the media service was asked to record that the post uses the media.
 */
export function mediaUseHolds(sql: ISql, mediaIds: ReturnType<ISql>, notedAfter: ReturnType<ISql>) {
  return sql`(cardinality(${mediaIds}) = 0 or clock_timestamp() < ${notedAfter} + interval '5 minutes')`;
}
