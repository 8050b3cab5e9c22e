import type { GraphCall, GraphEndpoint } from "#src/graph/endpoint.ts";
import { refuseGraph, refuseObject, refuseParameter } from "#src/graph/errors.ts";
import { PAGING, pageOf } from "#src/graph/paging.ts";
import { pickFields } from "#src/graph/parameters.ts";
import { isRecord } from "#src/http/call.ts";
import type { Reply } from "#src/http/call.ts";
import type { InstagramNetwork } from "#src/instagram/network.ts";
import { authorId, commentView } from "#src/instagram/views.ts";
import type { Comment } from "#src/world/reactions.ts";

const MAX_LIMIT = 50;
const MAX_MESSAGE_BYTES = 1000;
const PRIVATE_REPLY_WINDOW_MS = 7 * 86_400_000;

/**
 * A reader's comment on one of the account's Instagram posts. Refuses the call when the comment
 * does not exist.
 */
function requireComment({ world }: InstagramNetwork, { account }: GraphCall, id: string): Comment {
  const comment = world.reactions.comment("instagram", id);
  const post = world.posts.get(account, comment?.mediaId ?? "");
  return comment === undefined || post === undefined || post.deletedAt !== null
    ? refuseObject(id)
    : comment;
}

/** Lists the comments on an Instagram post, newest first and without hidden comments. */
function list(network: InstagramNetwork, graphCall: GraphCall): Reply {
  const { account, parameters, asOf, id } = graphCall;
  const { posts, reactions } = network.world;
  parameters.checkNames(PAGING);
  const post = posts.get(account, id);
  if (post === undefined || post.deletedAt !== null) {
    return refuseObject(id);
  }
  const shown = reactions
    .commentsOn("instagram", id)
    .filter((comment) => comment.createdAt <= asOf && network.hidden.get(comment.id) !== true)
    .toSorted((one, other) => other.createdAt - one.createdAt);
  const { items, paging } = pageOf(shown, graphCall, MAX_LIMIT);
  const data = items.map((comment) =>
    pickFields(parameters, commentView(network, comment, account), ["timestamp", "text"]),
  );
  return { status: 200, body: { data, ...paging } };
}

/** `GET /:media/comments`: lists the comments on an Instagram post. */
export function listComments(network: InstagramNetwork): GraphEndpoint {
  return {
    method: "GET",
    path: "/:id/comments",
    operations: () => ["comments"],
    reads: true,
    scope: "instagram_manage_comments",
    handle: (graphCall) => list(network, graphCall),
  };
}

/**
 * Replies to an Instagram comment. A reply to a reply is stored as a reply to the top-level
 * comment.
 */
function reply(network: InstagramNetwork, graphCall: GraphCall): Reply {
  const { parameters, now, id: path } = graphCall;
  parameters.checkNames(["message"]);
  const text = parameters.required("message");
  const top = requireComment(network, graphCall, network.replies.get(path)?.parent ?? path);
  if (network.hidden.get(top.id) === true) {
    return refuseParameter("A hidden comment cannot be replied to");
  }
  const id = network.world.snowflakes.next(now);
  network.replies.put(id, { id, parent: top.id, text, createdAt: now });
  return { status: 200, body: { id } };
}

/** `POST /:comment/replies`: replies to an Instagram comment. */
export function replyToComment(network: InstagramNetwork): GraphEndpoint {
  return {
    method: "POST",
    path: "/:id/replies",
    operations: () => ["reply"],
    scope: "instagram_manage_comments",
    handle: (graphCall) => reply(network, graphCall),
  };
}

/** Hides or shows a reader's comment on Instagram. The account's own replies cannot be hidden. */
export function hideComment(network: InstagramNetwork, graphCall: GraphCall): Reply {
  const { parameters, id } = graphCall;
  parameters.checkNames(["hide"]);
  parameters.required("hide");
  const comment = requireComment(network, graphCall, id);
  network.hidden.put(comment.id, parameters.flag("hide", false));
  return { status: 200, body: { success: true } };
}

function textOf(value: unknown): string {
  const text = isRecord(value) ? value["text"] : undefined;
  return typeof text === "string" && text !== "" && Buffer.byteLength(text) <= MAX_MESSAGE_BYTES
    ? text
    : refuseParameter("Param message must have a text of at most 1000 bytes");
}

/**
 * Sends an Instagram private reply, at most one per comment, within seven days after the comment.
 */
function sendPrivateReply(network: InstagramNetwork, graphCall: GraphCall): Reply {
  const { parameters, account, now, id: path } = graphCall;
  const pageId = network.ownerships.get(account.externalId)?.pageId;
  if (path !== "me" && path !== pageId) {
    return refuseObject(path);
  }
  parameters.checkNames(["recipient", "message"]);
  const recipient = parameters.json("recipient");
  const id = isRecord(recipient) ? recipient["comment_id"] : undefined;
  if (typeof id !== "string") {
    return refuseParameter("Param recipient must have a comment_id");
  }
  const text = textOf(parameters.json("message"));
  const comment = requireComment(network, graphCall, id);
  const isTooOld = now - comment.createdAt > PRIVATE_REPLY_WINDOW_MS;
  if (isTooOld || network.privateReplies.has(id)) {
    const message = "A private reply can be sent once, within 7 days of the comment";
    return refuseGraph({ code: 10_900, subcode: 2_534_014, message });
  }
  network.privateReplies.put(id, text);
  const recipientId = authorId(comment.author);
  const body = { recipient_id: recipientId, message_id: `m_${network.world.snowflakes.next(now)}` };
  return { status: 200, body };
}

/** `POST /:page/messages`: sends a private reply to an Instagram comment. */
export function privateReply(network: InstagramNetwork): GraphEndpoint {
  return {
    method: "POST",
    path: "/:id/messages",
    operations: () => ["reply"],
    scope: "instagram_manage_messages",
    handle: (graphCall) => sendPrivateReply(network, graphCall),
  };
}
