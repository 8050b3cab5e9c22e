import type { ISql } from "@postrider/shared/postgres";

/**
 * The condition under which a statement may write a post with media. The media service ignores a claim after 10 minutes if
 * it finds no post, so a process that was suspended for longer must not write the post. The statement already fails with
 * `media_use_expired` after 5 minutes, because its transaction still takes some time.
 *
 * @param notedAfter The database's time before the media were claimed.
 */
export function mediaUseHolds(
  sql: ISql,
  { mediaIds, notedAfter }: { readonly mediaIds: readonly string[]; readonly notedAfter: Date },
) {
  if (mediaIds.length === 0) return sql`true`;
  return sql`
    case
      when clock_timestamp() < ${notedAfter}::timestamptz + interval '5 minutes' then true
      else refuse('media_use_expired')
    end`;
}

/** A post, and whether the post uses a certain item of media. */
export interface MediaUseRow {
  readonly postId: string;
  readonly uses: boolean;
  readonly version: number;
}

/** Returns those of the given posts that exist, with their versions and whether they use the media. */
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
