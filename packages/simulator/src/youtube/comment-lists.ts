import type { Call, Reply } from "#src/http/call.ts";
import { commentView, replyView, threadView } from "#src/youtube/comment-view.ts";
import type { ModerationStatus } from "#src/youtube/discussion.ts";
import { partsOf, requireParameter, type YoutubeCall } from "#src/youtube/endpoint.ts";
import { refuse } from "#src/youtube/errors.ts";
import type { YoutubeNetwork } from "#src/youtube/network.ts";
import { listReply } from "#src/youtube/video-list.ts";
import { existsAt, type Video } from "#src/youtube/videos.ts";

const MAX_SIZE = 100;
const DEFAULT_SIZE = 20;
const LISTED: readonly string[] = ["published", "heldForReview", "likelySpam"];

export function commentNotFound(): never {
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
  const end = start + size;
  return listReply("youtube#commentThreadListResponse", items, {
    ...(end < all.length ? { nextPageToken: String(end) } : {}),
    pageInfo: { totalResults: items.length, resultsPerPage: size },
  });
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
  const end = start + size;
  return listReply("youtube#commentListResponse", items, {
    ...(end < all.length ? { nextPageToken: String(end) } : {}),
    pageInfo: { totalResults: items.length, resultsPerPage: size },
  });
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
