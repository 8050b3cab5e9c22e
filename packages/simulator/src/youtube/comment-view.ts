import { createHash } from "node:crypto";
import type { ShownComment } from "#src/platform.ts";
import type { Account } from "#src/world/accounts.ts";
import type { Comment } from "#src/world/reactions.ts";
import type { YoutubeNetwork } from "#src/youtube/network.ts";
import { chosen, etagOf } from "#src/youtube/resources.ts";
import type { ChannelReply, Video } from "#src/youtube/videos.ts";

/** Readers have no channels in the simulator. */
function authorId(author: string): string {
  return `UC${createHash("sha256").update(author).digest("base64url").slice(0, 22)}`;
}

interface Written {
  readonly author: string;
  readonly channelId: string;
  readonly text: string;
  readonly createdAt: number;
}

function textSnippet({ author, channelId, text, createdAt }: Written) {
  const publishedAt = new Date(createdAt).toISOString().replace(/\.\d{3}Z$/, "Z");
  return {
    textDisplay: text,
    textOriginal: text,
    authorDisplayName: `@${author}`,
    authorChannelId: { value: channelId },
    canRate: true,
    viewerRating: "none",
    likeCount: 0,
    publishedAt,
    updatedAt: publishedAt,
  };
}

/** Only lists contain the moderation status, and only threads contain the video. */
export function commentView(
  network: YoutubeNetwork,
  comment: Comment,
  { parts, isInList }: { readonly parts: ReadonlySet<string>; readonly isInList: boolean },
) {
  const { id, author, mediaId, account } = comment;
  const status = network.discussion.statusOf(id);
  const snippet = {
    ...textSnippet({ ...comment, channelId: authorId(author) }),
    channelId: account,
    ...(isInList ? { videoId: mediaId, moderationStatus: status } : {}),
  };
  return {
    kind: "youtube#comment",
    etag: etagOf([comment, status]),
    id,
    ...chosen(parts, { snippet }),
  };
}

export function replyView(
  network: YoutubeNetwork,
  reply: ChannelReply,
  parts: ReadonlySet<string>,
) {
  const { id, channel, parentId, videoId } = reply;
  const author = network.world.accounts.byId("youtube", channel)?.username ?? "";
  const snippet = {
    ...textSnippet({ ...reply, author, channelId: channel }),
    channelId: channel,
    parentId,
    videoId,
  };
  return {
    kind: "youtube#comment",
    etag: etagOf(reply),
    id,
    ...chosen(parts, { snippet }),
  };
}

export function shownComments(network: YoutubeNetwork, account: Account): readonly ShownComment[] {
  const { discussion, videos } = network;
  return [...videos.newestFirst(account.externalId)].flatMap(({ id }) =>
    discussion.commentsOn(id).flatMap((comment) => [
      {
        id: comment.id,
        mediaId: comment.mediaId,
        author: comment.author,
        text: comment.text,
        hidden: discussion.statusOf(comment.id) !== "published",
        createdAt: comment.createdAt,
      },
      ...discussion.repliesTo(comment.id).map((reply) => ({
        id: reply.id,
        mediaId: reply.parentId,
        author: account.username,
        text: reply.text,
        hidden: false,
        createdAt: reply.createdAt,
      })),
    ]),
  );
}

export function threadView(
  network: YoutubeNetwork,
  comment: Comment,
  video: Video,
  { parts, isInList }: { readonly parts: ReadonlySet<string>; readonly isInList: boolean },
) {
  const whole = new Set(["snippet"]);
  const replies = network.discussion
    .repliesTo(comment.id)
    .map((reply) => replyView(network, reply, whole));
  const snippet = {
    channelId: video.channel,
    videoId: video.id,
    topLevelComment: commentView(network, comment, { parts: whole, isInList }),
    canReply: true,
    totalReplyCount: replies.length,
    isPublic: true,
  };
  return {
    kind: "youtube#commentThread",
    etag: etagOf([comment, replies.length]),
    id: comment.id,
    ...chosen(
      parts,
      replies.length > 0 ? { snippet, replies: { comments: replies } } : { snippet },
    ),
  };
}
