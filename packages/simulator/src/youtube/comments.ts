import { contentType, isRecord, jsonObject } from "#src/http/call.ts";
import type { Call, Reply } from "#src/http/call.ts";
import { commentView, replyView, threadView } from "#src/youtube/comment-view.ts";
import type { ModerationStatus } from "#src/youtube/discussion.ts";
import { partsOf, requireParameter } from "#src/youtube/endpoint.ts";
import type { Endpoint, YoutubeCall } from "#src/youtube/endpoint.ts";
import { refuse } from "#src/youtube/errors.ts";
import type { YoutubeNetwork } from "#src/youtube/network.ts";
import { SCOPES } from "#src/youtube/tokens.ts";
import { listReply } from "#src/youtube/video-list.ts";
import { existsAt } from "#src/youtube/videos.ts";
import type { Video } from "#src/youtube/videos.ts";

const MAX_SIZE = 100;
const DEFAULT_SIZE = 20;
const MAX_TEXT_CHARACTERS = 10_000;
const LISTED: readonly string[] = ["published", "heldForReview", "likelySpam"];
const SETTABLE: readonly string[] = ["heldForReview", "published", "rejected"];

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

function statusParameter({ call }: YoutubeCall): ModerationStatus {
  const status = call.query.get("moderationStatus") ?? "published";
  return LISTED.includes(status)
    ? (status as ModerationStatus)
    : refuse(400, "invalidValue", { location: "moderationStatus" });
}

function list(network: YoutubeNetwork, youtubeCall: YoutubeCall): Reply {
  const { call, channel, asOf } = youtubeCall;
  const parts = partsOf(call.query, ["id", "snippet", "replies"]);
  const video = videoOf(network, youtubeCall);
  const status = statusParameter(youtubeCall);
  if (status !== "published" && video.channel !== channel.externalId) {
    return refuse(403, "forbidden", { domain: "youtube.commentThread" });
  }
  const size = Math.min(Number(call.query.get("maxResults") ?? DEFAULT_SIZE), MAX_SIZE);
  const start = Number(call.query.get("pageToken") ?? 0);
  if (!Number.isInteger(size) || size < 1 || !Number.isInteger(start) || start < 0) {
    return refuse(400, "invalidPageToken", { location: "pageToken" });
  }
  const all = network.discussion
    .commentsOn(video.id)
    .filter(({ id, createdAt }) => createdAt <= asOf && network.discussion.statusOf(id) === status);
  const items = all
    .slice(start, start + size)
    .map((comment) => threadView(network, comment, video, parts));
  const end = start + size;
  return listReply("youtube#commentThreadListResponse", items, {
    ...(end < all.length ? { nextPageToken: String(end) } : {}),
    pageInfo: { totalResults: items.length, resultsPerPage: size },
  });
}

/** Reads the text of a new reply on YouTube, and the id of the comment to reply to. */
function replyText(call: Call): { readonly parentId: string; readonly text: string } {
  const body = contentType(call) === "application/json" ? jsonObject(call) : undefined;
  const snippet = body?.["snippet"];
  const { parentId, textOriginal: text } = isRecord(snippet) ? snippet : {};
  if (typeof parentId !== "string" || parentId === "") {
    return refuse(400, "parentCommentIdMissing", { domain: "youtube.comment" });
  }
  if (typeof text !== "string" || text.trim() === "") {
    return refuse(400, "commentTextRequired", { domain: "youtube.comment" });
  }
  return text.length > MAX_TEXT_CHARACTERS
    ? refuse(400, "commentTextTooLong", { domain: "youtube.comment" })
    : { parentId, text };
}

function reply(network: YoutubeNetwork, { call, channel, now }: YoutubeCall): Reply {
  const parts = partsOf(call.query, ["id", "snippet"]);
  const { parentId, text } = replyText(call);
  const parent = network.discussion.comment(parentId);
  if (parent === undefined) {
    return refuse(404, "parentCommentNotFound", { domain: "youtube.comment" });
  }
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

/**
 * Reads the comment ids in a YouTube call. Ends the call with an error unless all comments belong
 * to videos of the caller's channel.
 */
function ownCommentIds(network: YoutubeNetwork, { call, channel }: YoutubeCall): string[] {
  const ids = requireParameter(call.query, "id").split(",");
  for (const id of ids) {
    const comment = network.discussion.comment(id) ?? commentNotFound();
    if (comment.account !== channel.externalId) {
      refuse(403, "forbidden", { domain: "youtube.comment" });
    }
  }
  return ids;
}

function moderate(network: YoutubeNetwork, youtubeCall: YoutubeCall): Reply {
  const status = requireParameter(youtubeCall.call.query, "moderationStatus");
  if (!SETTABLE.includes(status)) {
    return refuse(400, "operationNotSupported", { domain: "youtube.comment" });
  }
  for (const id of ownCommentIds(network, youtubeCall)) {
    network.discussion.moderate(id, status as ModerationStatus);
  }
  return { status: 204, body: "" };
}

function remove(network: YoutubeNetwork, { call, channel }: YoutubeCall): Reply {
  const id = requireParameter(call.query, "id");
  const isOwn = network.discussion.reply(id)?.channel === channel.externalId;
  const isBelowOwn = network.discussion.comment(id)?.account === channel.externalId;
  if (!isOwn && !isBelowOwn) {
    return commentNotFound();
  }
  network.discussion.delete(id);
  return { status: 204, body: "" };
}

function show(network: YoutubeNetwork, { call }: YoutubeCall): Reply {
  const parts = partsOf(call.query, ["id", "snippet"]);
  const ids = requireParameter(call.query, "id").split(",");
  const items = ids.flatMap((id) => {
    const comment = network.discussion.comment(id);
    const answer = network.discussion.reply(id);
    if (comment !== undefined) {
      return [commentView(network, comment, parts)];
    }
    return answer === undefined ? [] : [replyView(network, answer, parts)];
  });
  return listReply("youtube#commentListResponse", items);
}

type Kind = Pick<Endpoint, "method" | "path" | "operations" | "parameters" | "handle">;

const PATH = "/youtube/v3/comments";

function readEndpoint(kind: Kind): Endpoint {
  return { ...kind, scopes: [SCOPES.forceSsl], cost: { units: 1 }, reads: true };
}

function writeEndpoint(kind: Kind): Endpoint {
  return { ...kind, scopes: [SCOPES.forceSsl], cost: { units: 50 } };
}

function listThreads(network: YoutubeNetwork): Endpoint {
  const paging = ["maxResults", "pageToken", "order"];
  return readEndpoint({
    method: "GET",
    path: "/youtube/v3/commentThreads",
    operations: () => ["comments"],
    parameters: ["part", "videoId", "moderationStatus", "textFormat", ...paging],
    handle: (call) => list(network, call),
  });
}

/**
 * The endpoints that list, answer, moderate and delete the comments on a YouTube channel's videos.
 */
export function commentEndpoints(network: YoutubeNetwork): readonly Endpoint[] {
  return [
    listThreads(network),
    readEndpoint({
      method: "GET",
      path: PATH,
      operations: () => ["comments"],
      parameters: ["part", "id", "textFormat"],
      handle: (call) => show(network, call),
    }),
    writeEndpoint({
      method: "POST",
      path: PATH,
      operations: () => ["reply"],
      parameters: ["part"],
      handle: (call) => reply(network, call),
    }),
    writeEndpoint({
      method: "POST",
      path: `${PATH}/setModerationStatus`,
      operations: () => ["hide"],
      parameters: ["id", "moderationStatus", "banAuthor"],
      handle: (call) => moderate(network, call),
    }),
    writeEndpoint({
      method: "DELETE",
      path: PATH,
      operations: () => ["other"],
      parameters: ["id"],
      handle: (call) => remove(network, call),
    }),
  ];
}
