import { type Call, contentType, isRecord, jsonObject, type Reply } from "#src/http/call.ts";
import { existsAt } from "#src/world/posts.ts";
import { commentView, replyView, threadView } from "#src/youtube/comment-view.ts";
import { refuse } from "#src/youtube/errors.ts";
import type { YoutubeCall, YoutubeNetwork } from "#src/youtube/network.ts";
import { listReply, partsOf, requireParameter } from "#src/youtube/resources.ts";
import type { ModerationStatus, Video } from "#src/youtube/videos.ts";

const MAX_SIZE = 100;
const DEFAULT_SIZE = 20;
const LISTED: readonly string[] = ["published", "heldForReview", "likelySpam"];

function commentNotFound(): never {
  return refuse(404, "commentNotFound", {
    message: "One or more of the specified comments cannot be found.",
    domain: "youtube.comment",
    location: "id",
  });
}

function videoOf(network: YoutubeNetwork, { call, asOf }: YoutubeCall): Video {
  const video = network.videos.get(requireParameter(call.query, "videoId"));
  return video !== undefined && existsAt(video, asOf)
    ? video
    : refuse(404, "videoNotFound", { domain: "youtube.commentThread", location: "videoId" });
}

function pageOf({ query }: Call): { readonly size: number; readonly start: number } {
  const size = Math.min(Number(query.get("maxResults") ?? DEFAULT_SIZE), MAX_SIZE);
  const start = Number(query.get("pageToken") ?? 0);
  return Number.isInteger(size) && size >= 1 && Number.isInteger(start) && start >= 0
    ? { size, start }
    : refuse(400, "invalidPageToken", { location: "pageToken" });
}

function pageReply(
  kind: string,
  items: readonly unknown[],
  { start, size, of }: { readonly start: number; readonly size: number; readonly of: number },
): Reply {
  return listReply(kind, items, {
    nextPageToken: start + size < of ? String(start + size) : undefined,
    pageInfo: { totalResults: items.length, resultsPerPage: size },
  });
}

function statusParameter({ call }: YoutubeCall): ModerationStatus {
  const status = call.query.get("moderationStatus") ?? "published";
  return LISTED.includes(status)
    ? (status as ModerationStatus)
    : refuse(400, "invalidValue", { location: "moderationStatus" });
}

/**
 * YouTube does not document whether this finds hidden comments; the simulator does not find them.
 */
function threadById(
  network: YoutubeNetwork,
  { call, asOf }: YoutubeCall,
  parts: ReadonlySet<string>,
): Reply {
  const id = requireParameter(call.query, "id");
  const comment = network.discussion.comment(id);
  const video = network.videos.get(comment?.mediaId ?? "");
  const isShown =
    comment !== undefined &&
    comment.createdAt <= asOf &&
    network.discussion.statusOf(id) === "published";
  const items =
    isShown && video !== undefined && existsAt(video, asOf)
      ? [threadView(network, comment, video, { parts, isInList: false })]
      : [];
  return listReply("youtube#commentThreadListResponse", items);
}

export function listThreads(network: YoutubeNetwork, youtubeCall: YoutubeCall): Reply {
  const { call, channel, asOf } = youtubeCall;
  const parts = partsOf(call.query, ["id", "snippet", "replies"]);
  if (call.query.has("id")) return threadById(network, youtubeCall, parts);
  const video = videoOf(network, youtubeCall);
  if (video.metadata.madeForKids)
    return refuse(403, "commentsDisabled", { domain: "youtube.commentThread" });
  const status = statusParameter(youtubeCall);
  if (status !== "published" && video.channel !== channel.externalId)
    return refuse(403, "forbidden", { domain: "youtube.commentThread" });
  const { size, start } = pageOf(call);
  const all = network.discussion
    .commentsOn(video.id)
    .filter(({ id, createdAt }) => createdAt <= asOf && network.discussion.statusOf(id) === status);
  const items = all
    .slice(start, start + size)
    .map((comment) => threadView(network, comment, video, { parts, isInList: true }));
  return pageReply("youtube#commentThreadListResponse", items, { start, size, of: all.length });
}

function showReplies(
  network: YoutubeNetwork,
  { call, asOf }: YoutubeCall,
  parentId: string,
): Reply {
  const parts = partsOf(call.query, ["id", "snippet"]);
  if (network.discussion.comment(parentId) === undefined) return commentNotFound();
  const { size, start } = pageOf(call);
  const all = network.discussion.repliesTo(parentId).filter(({ createdAt }) => createdAt <= asOf);
  const items = all.slice(start, start + size).map((each) => replyView(network, each, parts));
  return pageReply("youtube#commentListResponse", items, { start, size, of: all.length });
}

export function listComments(network: YoutubeNetwork, youtubeCall: YoutubeCall): Reply {
  const { call } = youtubeCall;
  const parts = partsOf(call.query, ["id", "snippet"]);
  const parentId = call.query.get("parentId");
  if (parentId !== null) return showReplies(network, youtubeCall, parentId);
  const ids = requireParameter(call.query, "id").split(",");
  const items = ids.flatMap((id) => {
    const comment = network.discussion.comment(id);
    const answer = network.discussion.reply(id);
    if (comment !== undefined) return [commentView(network, comment, { parts, isInList: false })];
    return answer === undefined ? [] : [replyView(network, answer, parts)];
  });
  return listReply("youtube#commentListResponse", items);
}

const MAX_TEXT_CHARACTERS = 10_000;
const SETTABLE: readonly string[] = ["heldForReview", "published", "rejected"];

function replyText(call: Call): { readonly parentId: string; readonly text: string } {
  const body = contentType(call) === "application/json" ? jsonObject(call) : undefined;
  const snippet = body?.["snippet"];
  const { parentId, textOriginal: text } = isRecord(snippet) ? snippet : {};
  if (typeof parentId !== "string" || parentId === "")
    return refuse(400, "parentCommentIdMissing", { domain: "youtube.comment" });
  if (typeof text !== "string" || text.trim() === "")
    return refuse(400, "commentTextRequired", { domain: "youtube.comment" });
  return text.length > MAX_TEXT_CHARACTERS
    ? refuse(400, "commentTextTooLong", { domain: "youtube.comment" })
    : { parentId, text };
}

export function replyToComment(
  network: YoutubeNetwork,
  { call, channel, now }: YoutubeCall,
): Reply {
  const parts = partsOf(call.query, ["id", "snippet"]);
  const { parentId, text } = replyText(call);
  const parent = network.discussion.comment(parentId);
  if (parent === undefined)
    return refuse(404, "parentCommentNotFound", { domain: "youtube.comment" });
  const made = network.discussion.addReply({
    id: `${parentId}.${network.world.snowflakes.next(now)}`,
    channel: channel.externalId,
    parentId,
    videoId: parent.mediaId,
    text,
    createdAt: now,
  });
  return { status: 200, body: replyView(network, made, parts) };
}

function ownCommentIds(network: YoutubeNetwork, { call, channel }: YoutubeCall): string[] {
  const ids = requireParameter(call.query, "id").split(",");
  for (const id of ids) {
    const comment = network.discussion.comment(id) ?? commentNotFound();
    if (comment.account !== channel.externalId)
      refuse(403, "forbidden", { domain: "youtube.comment" });
  }
  return ids;
}

export function moderateComments(network: YoutubeNetwork, youtubeCall: YoutubeCall): Reply {
  const status = requireParameter(youtubeCall.call.query, "moderationStatus");
  if (!SETTABLE.includes(status))
    return refuse(400, "operationNotSupported", { domain: "youtube.comment" });
  for (const id of ownCommentIds(network, youtubeCall))
    network.discussion.moderate(id, status as ModerationStatus);
  return { status: 204, body: "" };
}

export function deleteComment(network: YoutubeNetwork, { call, channel }: YoutubeCall): Reply {
  const id = requireParameter(call.query, "id");
  const isOwn = network.discussion.reply(id)?.channel === channel.externalId;
  const isBelowOwn = network.discussion.comment(id)?.account === channel.externalId;
  if (!isOwn && !isBelowOwn) return commentNotFound();
  network.discussion.delete(id);
  return { status: 204, body: "" };
}
