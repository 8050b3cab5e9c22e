import type { Container, Containers } from "#src/instagram/containers.ts";
import type { InstagramNetwork } from "#src/instagram/network.ts";
import { permalinkOf, type PostDetail } from "#src/instagram/post-details.ts";
import type { Account } from "#src/world/accounts.ts";
import type { Post } from "#src/world/posts.ts";

export type View = Readonly<Record<string, unknown>>;

export function timeView(instant: number): string {
  return `${new Date(instant).toISOString().slice(0, 19)}+0000`;
}

export function mediaView(
  { world }: InstagramNetwork,
  post: Post,
  detail: PostDetail,
  { externalId, username }: Account,
  asOf: number,
): View {
  const { reactions } = world;
  const { likes = 0, comments = 0 } = reactions.metricsAt("instagram", post.id, asOf);
  const shown = reactions.countComments("instagram", post.id, asOf);
  return {
    id: post.id,
    caption: post.text === "" ? undefined : post.text,
    media_type: detail.mediaType,
    media_product_type: detail.productType,
    permalink: permalinkOf(detail),
    shortcode: detail.shortcode,
    timestamp: timeView(post.createdAt),
    username,
    owner: { id: externalId },
    like_count: likes,
    comments_count: Math.max(comments, shown),
    is_comment_enabled: true,
  };
}

export function containerView(containers: Containers, container: Container, asOf: number): View {
  const status = containers.statusOf(container, asOf);
  const statusText =
    status.code === "ERROR"
      ? `Error: ${status.error.message} (${status.error.subcode})`
      : status.code;
  return { id: container.id, status_code: status.code, status: statusText };
}

export function accountView({ externalId, username, displayName }: Account): View {
  return {
    id: externalId,
    username,
    name: displayName,
    profile_picture_url: `https://www.instagram.com/${username}/picture.jpg`,
    followers_count: 0,
    media_count: 0,
  };
}
