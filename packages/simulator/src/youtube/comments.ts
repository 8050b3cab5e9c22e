import { type Call, contentType, isRecord, jsonObject, type Reply } from "#src/http/call.ts";
import { commentNotFound, listComments, listThreads } from "#src/youtube/comment-lists.ts";
import { replyView } from "#src/youtube/comment-view.ts";
import type { ModerationStatus } from "#src/youtube/discussion.ts";
import {
  type Endpoint,
  partsOf,
  requireParameter,
  type YoutubeCall,
} from "#src/youtube/endpoint.ts";
import { refuse } from "#src/youtube/errors.ts";
import type { YoutubeNetwork } from "#src/youtube/network.ts";
import { SCOPES } from "#src/youtube/tokens.ts";

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

function reply(network: YoutubeNetwork, { call, channel, now }: YoutubeCall): Reply {
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

function moderate(network: YoutubeNetwork, youtubeCall: YoutubeCall): Reply {
  const status = requireParameter(youtubeCall.call.query, "moderationStatus");
  if (!SETTABLE.includes(status))
    return refuse(400, "operationNotSupported", { domain: "youtube.comment" });

  for (const id of ownCommentIds(network, youtubeCall))
    network.discussion.moderate(id, status as ModerationStatus);

  return { status: 204, body: "" };
}

function remove(network: YoutubeNetwork, { call, channel }: YoutubeCall): Reply {
  const id = requireParameter(call.query, "id");
  const isOwn = network.discussion.reply(id)?.channel === channel.externalId;
  const isBelowOwn = network.discussion.comment(id)?.account === channel.externalId;
  if (!isOwn && !isBelowOwn) return commentNotFound();

  network.discussion.delete(id);
  return { status: 204, body: "" };
}

type Kind = Pick<Endpoint, "method" | "path" | "operations" | "parameters" | "handle">;

const PATH = "/youtube/v3/comments";

function readEndpoint(kind: Kind): Endpoint {
  return { ...kind, scopes: [SCOPES.forceSsl], cost: { units: 1 }, reads: true };
}

function writeEndpoint(kind: Kind): Endpoint {
  return { ...kind, scopes: [SCOPES.forceSsl], cost: { units: 50 } };
}

function threadsEndpoint(network: YoutubeNetwork): Endpoint {
  const paging = ["maxResults", "pageToken", "order"];
  return readEndpoint({
    method: "GET",
    path: "/youtube/v3/commentThreads",
    operations: () => ["comments"],
    parameters: ["part", "id", "videoId", "moderationStatus", "textFormat", ...paging],
    handle: (call) => listThreads(network, call),
  });
}

export function commentEndpoints(network: YoutubeNetwork): readonly Endpoint[] {
  return [
    threadsEndpoint(network),
    readEndpoint({
      method: "GET",
      path: PATH,
      operations: () => ["comments"],
      parameters: ["part", "id", "parentId", "maxResults", "pageToken", "textFormat"],
      handle: (call) => listComments(network, call),
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
