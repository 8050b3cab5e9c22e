import type { ISql } from "@postrider/shared/postgres";

/**
 * The condition under which a statement may write a post with media: media forgets a claim after 10 minutes if it finds
 * no post, so a process that was suspended for longer must not write one. The statement refuses itself with
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

/** A post, and whether it uses a certain item of media. */
export interface MediaUseRow {
  readonly postId: string;
  readonly uses: boolean;
  readonly version: number;
}

/** The named posts that exist, by their primary key. */
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
