import type { ISql } from "@postrider/shared/postgres";

/** Why a statement refuses itself that `mediaUseHolds` does not let through. */
export const MEDIA_USE_EXPIRED = "media_use_expired";

/**
 * A condition of the statement that writes a post with media: media may forget a use 10 minutes after it was noted if it
 * finds no post, so a process that stood still must not come back and write one. Half of that time is left for the rest
 * of the transaction, which the database ends much sooner.
 *
 * @param notedAfter The database's time before the use was noted.
 */
export function mediaUseHolds(
  sql: ISql,
  { mediaIds, notedAfter }: { readonly mediaIds: readonly string[]; readonly notedAfter: Date },
) {
  if (mediaIds.length === 0) return sql`true`;
  return sql`
    case
      when clock_timestamp() < ${notedAfter}::timestamptz + interval '5 minutes' then true
      else refuse(${MEDIA_USE_EXPIRED})
    end`;
}

/** A post, and whether it has certain media. */
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
