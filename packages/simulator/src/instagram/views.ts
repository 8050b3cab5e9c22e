import { createHash } from "node:crypto";
import type { Container, Containers } from "#src/instagram/containers.ts";
import type { InstagramNetwork, OwnReply } from "#src/instagram/network.ts";
import { permalinkOf } from "#src/instagram/post-details.ts";
import type { PostDetail } from "#src/instagram/post-details.ts";
import type { Account } from "#src/world/accounts.ts";
import type { Post } from "#src/world/posts.ts";
import type { Comment } from "#src/world/reactions.ts";

export type View = Readonly<Record<string, unknown>>;

/** An instant in Instagram's format: whole seconds, and a UTC offset without a colon. */
export function timeView(instant: number): string {
  return `${new Date(instant).toISOString().slice(0, 19)}+0000`;
}

/** A post as the Instagram API returns it, alone and in lists. */
export function mediaView(
  { world }: InstagramNetwork,
  post: Post,
  detail: PostDetail,
  { externalId, username }: Account,
): View {
  const { likes = 0, comments = 0 } = world.reactions.metricsOf("instagram", post.id);
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
    comments_count: Math.max(comments, world.reactions.commentsOn("instagram", post.id).length),
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

/**
 * An Instagram user id derived from the author's name, because readers have no accounts in the
 * simulator.
 */
export function authorId(author: string): string {
  return BigInt(`0x${createHash("sha256").update(author).digest("hex").slice(0, 13)}`).toString();
}

export function replyView(reply: OwnReply, { externalId, username }: Account): View {
  return {
    id: reply.id,
    text: reply.text,
    timestamp: timeView(reply.createdAt),
    username,
    from: { id: externalId, username },
    hidden: false,
    like_count: 0,
    parent_id: reply.parent,
  };
}

export function commentView(
  network: InstagramNetwork,
  { id, text, author, createdAt }: Comment,
  account: Account,
): View {
  const replies = [...network.replies.values()].filter(({ parent }) => parent === id);
  const data = replies.map((reply) => replyView(reply, account));
  return {
    id,
    text,
    timestamp: timeView(createdAt),
    username: author,
    from: { id: authorId(author), username: author },
    hidden: network.hidden.get(id) ?? false,
    like_count: 0,
    parent_id: undefined,
    replies: data.length === 0 ? undefined : { data },
  };
}
