import type { PlatformComment } from "#src/comments/connector.ts";
import { number, object, text } from "#src/http/platform-answer.ts";

export interface VideoComment {
  readonly videoId: string | undefined;
  readonly channelId: string | undefined;
  readonly comment: PlatformComment;
}

function toAuthor(snippet: unknown): Pick<PlatformComment, "authorId" | "authorUsername"> {
  return {
    authorId: text(object(snippet, "authorChannelId"), "value") ?? null,
    authorUsername: text(snippet, "authorDisplayName")?.replace(/^@/, "") ?? null,
  };
}

/**
 * YouTube states the moderation status only in lists, to the owner of the video
 * (developers.google.com/youtube/v3/docs/comments, read 2026-11-23). `replyCount` is null when it
 * is not known.
 */
export function toVideoComment(
  resource: unknown,
  replyCount: number | null,
): VideoComment | undefined {
  const id = text(resource, "id");
  const snippet = object(resource, "snippet");
  const createdAt = new Date(text(snippet, "publishedAt") ?? "");
  const status = text(snippet, "moderationStatus");
  if (id === undefined || Number.isNaN(createdAt.getTime())) return undefined;
  // Only comments on videos of the account's channel are read, so the channel of the video is the
  // account.
  const channelId = text(snippet, "channelId");
  const author = toAuthor(snippet);
  const comment = {
    id,
    text: text(snippet, "textOriginal") ?? text(snippet, "textDisplay") ?? "",
    ...author,
    isOwn: channelId !== undefined && author.authorId === channelId,
    createdAt,
    likeCount: number(snippet, "likeCount") ?? null,
    replyCount,
    hidden: status === undefined ? null : status !== "published",
  };
  return { videoId: text(snippet, "videoId"), channelId, comment };
}

export function toThreadComment(thread: unknown): VideoComment | undefined {
  const snippet = object(thread, "snippet");
  const found = toVideoComment(
    object(snippet, "topLevelComment"),
    number(snippet, "totalReplyCount") ?? null,
  );
  if (found === undefined) return undefined;
  const videoId = text(snippet, "videoId") ?? found.videoId;
  const channelId = text(snippet, "channelId") ?? found.channelId;
  const { comment } = found;
  const isOwn = channelId !== undefined && comment.authorId === channelId;
  return { videoId, channelId, comment: { ...comment, isOwn } };
}
