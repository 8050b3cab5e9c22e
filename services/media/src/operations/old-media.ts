import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { PostMediaNeed } from "@postrider/contracts/posts/v1/media_use_service_pb";
import type { Sql } from "@postrider/shared/postgres";
import { fetchMediaNeeds, type PostsClient } from "#src/clients/posts.ts";
import {
  hasTooManyUsages,
  listNewestUsers,
  listOldMedia,
  type OldMedia,
} from "#src/db/old-media.ts";
import { blocksDeletion, type Usage } from "#src/domain/usage.ts";

/** With up to 20 users each, and the newest 20, one call asks posts about all of them. */
const PAGE_MEDIA = 99;
const NEWEST_USERS = 20;

export interface OldMediaPage {
  /** The last media that were looked at; undefined after the last ones. */
  readonly last: string | undefined;
  readonly removable: readonly OldMedia[];
}

/** Whether a recorded user still needs the file, or ended after the given time. */
function isNeeded(media: OldMedia, usage: Usage, post: PostMediaNeed | undefined): boolean {
  if (post === undefined) return blocksDeletion(usage, undefined);
  const uses = post.workspaceId === media.workspaceId && post.mediaIds.includes(media.mediaId);
  if (!blocksDeletion(usage, { uses, version: Number(post.version) })) return false;
  if (!uses || post.endedAt === undefined) return true;
  return timestampDate(post.endedAt) >= media.endedBefore;
}

/**
 * Of the next media that a platform was given `days` ago or earlier: those that only posts use
 * whose last publication is that long ago, too. Drafts and scheduled posts keep their media. None
 * if posts knows no post that began to use media lately: its data is then older than ours, for
 * example restored to a wrong moment.
 */
export async function findOldMedia(
  { sql, posts }: { readonly sql: Sql; readonly posts: PostsClient },
  { days, after }: { readonly days: number; readonly after: string },
): Promise<OldMediaPage> {
  const page = await listOldMedia(sql, { days, after, limit: PAGE_MEDIA });
  const candidates = page.filter((media) => !hasTooManyUsages(media));
  const newest = await listNewestUsers(sql, NEWEST_USERS);
  const users = candidates.flatMap(({ usages }) => usages.map(({ postId }) => postId));
  const needs = await fetchMediaNeeds(posts, [...users, ...newest]);
  if (newest.length > 0 && !newest.some((postId) => needs.has(postId)))
    return { last: undefined, removable: [] };
  const removable = candidates.filter((media) =>
    media.usages.every((usage) => !isNeeded(media, usage, needs.get(usage.postId))),
  );
  return { last: page.at(-1)?.mediaId, removable };
}
