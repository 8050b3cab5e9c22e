import { checkPage } from "#src/facebook/feed.ts";
import type { FacebookNetwork } from "#src/facebook/network.ts";
import { timeView } from "#src/facebook/views.ts";
import type { GraphCall, GraphEndpoint } from "#src/graph/endpoint.ts";
import { refuseGraph, refuseObject, refuseParameter } from "#src/graph/errors.ts";
import { PAGING, pageOf } from "#src/graph/paging.ts";
import { pickFields } from "#src/graph/parameters.ts";
import { isRecord } from "#src/http/call.ts";
import type { Reply } from "#src/http/call.ts";
import type { Post } from "#src/world/posts.ts";
import type { Comment } from "#src/world/reactions.ts";

const REPLY_WINDOW_MS = 7 * 86_400_000;
const SUCCESS: Reply = { status: 200, body: { success: true } };

/**
 * A Facebook user id derived from the author's name, because readers have no accounts in the
 * simulator.
 */
function authorId(author: string): string {
  const digits = Buffer.from(author).reduce(
    (sum, byte) => (sum * 31n + BigInt(byte)) % 10n ** 15n,
    7n,
  );
  return `3${digits.toString().padStart(15, "0")}`;
}

function acceptsPrivateReply(
  network: FacebookNetwork,
  { id, createdAt }: Comment,
  now: number,
): boolean {
  return !network.answered.has(id) && now - createdAt <= REPLY_WINDOW_MS;
}

export function commentView(
  network: FacebookNetwork,
  comment: Comment,
  { account, now }: GraphCall,
): Readonly<Record<string, unknown>> {
  const isOwn = comment.author === account.username;
  const parent = network.world.reactions.comment("facebook", comment.mediaId);
  return {
    id: comment.id,
    from: isOwn
      ? { id: account.externalId, name: account.displayName }
      : { id: authorId(comment.author), name: comment.author },
    message: comment.text,
    created_time: timeView(comment.createdAt),
    is_hidden: network.hidden.get(comment.id) ?? false,
    can_hide: !isOwn,
    can_comment: true,
    can_reply_privately: !isOwn && acceptsPrivateReply(network, comment, now),
    private_reply_conversation: network.answered.has(comment.id)
      ? { id: `t_${comment.id}` }
      : undefined,
    parent: parent === undefined ? undefined : { id: parent.id },
    permalink_url: `https://www.facebook.com/${comment.mediaId}?comment_id=${comment.id}`,
    like_count: 0,
    comment_count: network.world.reactions.commentsOn("facebook", comment.id).length,
  };
}

/**
 * Finds the visible Facebook post whose id is in the path. The id of a video can also have the form
 * `<page>_<video>`.
 */
export function findVisiblePost(
  network: FacebookNetwork,
  { id, account }: GraphCall,
): Post | undefined {
  const { posts } = network.world;
  const post =
    posts.get(account, id) ?? posts.get(account, id.replace(`${account.externalId}_`, ""));
  return post?.deletedAt === null ? post : undefined;
}

/** Lists the comments on a Facebook post or the replies to a Facebook comment. */
function list(network: FacebookNetwork, graphCall: GraphCall): Reply {
  const { parameters, id, asOf } = graphCall;
  parameters.checkNames(["filter", "order", "summary", ...PAGING]);
  const { reactions } = network.world;
  const parent = findVisiblePost(network, graphCall) ?? reactions.comment("facebook", id);
  const all = reactions
    .commentsOn("facebook", parent?.id ?? refuseObject(id))
    .filter((comment) => comment.createdAt <= asOf);
  const ordered = parameters.text("order") === "reverse_chronological" ? all.toReversed() : all;
  const { items, paging } = pageOf(ordered, graphCall);
  const data = items.map((comment) =>
    pickFields(parameters, commentView(network, comment, graphCall), ["created_time", "message"]),
  );
  return { status: 200, body: { data, ...paging } };
}

/**
 * `GET /{post}/comments`: lists the comments on a Facebook post. With the id of a comment in the
 * path, lists the replies to this comment.
 */
export function listComments(network: FacebookNetwork): GraphEndpoint {
  return {
    method: "GET",
    path: "/:id/comments",
    operations: () => ["comments"],
    reads: true,
    scope: "pages_read_engagement",
    handle: (graphCall) => list(network, graphCall),
  };
}

function reply(network: FacebookNetwork, { parameters, id, account, now }: GraphCall): Reply {
  parameters.checkNames(["message"]);
  const text = parameters.required("message");
  const parent = network.world.reactions.comment("facebook", id);
  if (parent?.account !== account.externalId) {
    return refuseObject(id);
  }
  const made = network.world.reactions.addComment({
    id: newCommentId(network, now),
    platform: "facebook",
    account: account.externalId,
    mediaId: parent.id,
    author: account.username,
    text,
    createdAt: now,
  });
  return { status: 200, body: { id: made.id } };
}

/** `POST /{comment}/comments`: replies to a Facebook comment. */
export function replyToComment(network: FacebookNetwork): GraphEndpoint {
  return {
    method: "POST",
    path: "/:id/comments",
    operations: () => ["reply"],
    scope: "pages_manage_engagement",
    handle: (graphCall) => reply(network, graphCall),
  };
}

/**
 * `POST /{comment}` of Facebook with `is_hidden`: hides or shows a comment. Returns undefined when
 * the Page has no comment with the id in the path.
 */
export function hideComment(network: FacebookNetwork, graphCall: GraphCall): Reply | undefined {
  const { parameters, id, account } = graphCall;
  const comment = network.world.reactions.comment("facebook", id);
  if (comment?.account !== account.externalId) {
    return undefined;
  }
  parameters.checkNames(["is_hidden"]);
  parameters.required("is_hidden");
  network.hidden.put(id, parameters.flag("is_hidden", false));
  return SUCCESS;
}

function sendMessage(network: FacebookNetwork, graphCall: GraphCall): Reply {
  const { parameters, now, account } = graphCall;
  checkPage(graphCall);
  parameters.checkNames(["recipient", "message", "messaging_type"]);
  const recipient = parameters.json("recipient");
  const message = parameters.json("message");
  const id = isRecord(recipient) ? String(recipient["comment_id"]) : "";
  const text = isRecord(message) ? message["text"] : undefined;
  const comment = network.world.reactions.comment("facebook", id);
  if (typeof text !== "string" || text === "" || comment?.account !== account.externalId) {
    return refuseParameter("The comment or the text of the message is missing.");
  }
  if (!acceptsPrivateReply(network, comment, now)) {
    const refusal = "A private reply can be sent once, within 7 days of the comment.";
    return refuseGraph({ code: 10_900, subcode: 2_534_014, message: refusal });
  }
  network.answered.put(id, text);
  const body = { recipient_id: authorId(comment.author), message_id: `m_${id}` };
  return { status: 200, body };
}

/** `POST /{page}/messages`: sends a Facebook private reply, at most once per comment. */
export function sendPrivateReply(network: FacebookNetwork): GraphEndpoint {
  return {
    method: "POST",
    path: "/:id/messages",
    operations: () => ["reply"],
    scope: "pages_messaging",
    handle: (graphCall) => sendMessage(network, graphCall),
  };
}

export function newCommentId(network: FacebookNetwork, now: number): string {
  return `${network.world.snowflakes.next(now)}_${network.world.snowflakes.next(now)}`;
}
