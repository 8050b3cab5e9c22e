import { createHash } from "node:crypto";
import { sendReply, timeView } from "#src/graph/common-endpoints.ts";
import type { GraphCall } from "#src/graph/endpoint.ts";
import { refuseObject, refuseParameter } from "#src/graph/errors.ts";
import { nestedPage, pageOf, PAGING } from "#src/graph/paging.ts";
import { type Field, pickFields } from "#src/graph/parameters.ts";
import type { Reply } from "#src/http/call.ts";
import type { InstagramNetwork } from "#src/instagram/network.ts";
import type { View } from "#src/instagram/views.ts";
import type { Account } from "#src/world/accounts.ts";
import type { Comment } from "#src/world/reactions.ts";

function authorId(author: string): string {
  return BigInt(`0x${createHash("sha256").update(author).digest("hex").slice(0, 13)}`).toString();
}

/**
 * `user` exists only on the account's own comments; `from` has the author's id as the app sees it.
 */
export function commentView(
  network: InstagramNetwork,
  { id, text, author, createdAt, mediaId }: Comment,
  account: Account,
  asOf: number,
): View {
  const { reactions } = network.world;
  const parent = reactions.comment("instagram", mediaId);
  const replies = reactions
    .commentsOn("instagram", id)
    .filter((reply) => reply.createdAt <= asOf)
    .map((reply) => commentView(network, reply, account, asOf));
  return {
    id,
    text,
    timestamp: timeView(createdAt),
    username: author,
    from: { id: authorId(author), username: author },
    user: author === account.username ? { id: account.externalId } : undefined,
    media: { id: parent?.mediaId ?? mediaId },
    hidden: network.hidden.get(id) ?? false,
    like_count: 0,
    parent_id: parent?.id,
    replies: (field: Field) => nestedPage(replies, field, ["timestamp", "text"]),
  };
}

const MAX_LIMIT = 50;

export function findComment(
  { world }: InstagramNetwork,
  { account }: Pick<GraphCall, "account">,
  id: string,
): Comment | undefined {
  const comment = world.reactions.comment("instagram", id);
  const top = world.reactions.comment("instagram", comment?.mediaId ?? "") ?? comment;
  const post = world.posts.get(account, top?.mediaId ?? "");
  return post?.deletedAt === null ? comment : undefined;
}

function* shownComments(
  network: InstagramNetwork,
  list: readonly Comment[],
  asOf: number,
): Generator<Comment> {
  for (const comment of list.toReversed())
    if (comment.createdAt <= asOf && network.hidden.get(comment.id) !== true) yield comment;
}

function answerList(
  network: InstagramNetwork,
  graphCall: GraphCall,
  comments: readonly Comment[],
): Reply {
  const { parameters, asOf, account } = graphCall;
  parameters.checkNames(PAGING);
  const shown = shownComments(network, comments, asOf);
  const { items, paging } = pageOf(shown, graphCall, MAX_LIMIT);
  const data = items.map((comment) =>
    pickFields(parameters, commentView(network, comment, account, asOf), ["timestamp", "text"]),
  );
  return { status: 200, body: { data, ...paging } };
}

export function listComments(network: InstagramNetwork, graphCall: GraphCall): Reply {
  const { account, id } = graphCall;
  const { posts, reactions } = network.world;
  const post = posts.get(account, id);
  return post?.deletedAt === null
    ? answerList(network, graphCall, reactions.commentsOn("instagram", id))
    : refuseObject(id);
}

export function readReplies(network: InstagramNetwork, graphCall: GraphCall): Reply {
  const comment = findComment(network, graphCall, graphCall.id) ?? refuseObject(graphCall.id);
  const replies = network.world.reactions.commentsOn("instagram", comment.id);
  return answerList(network, graphCall, replies);
}

/** A reply to a reply is stored as a reply to the top-level comment. */
export function replyToComment(network: InstagramNetwork, graphCall: GraphCall): Reply {
  const { parameters, now, id: path, account } = graphCall;
  parameters.checkNames(["message"]);
  const text = parameters.required("message");
  const comment = findComment(network, graphCall, path) ?? refuseObject(path);
  const top = findComment(network, graphCall, comment.mediaId) ?? comment;
  if (network.hidden.get(top.id) === true)
    return refuseParameter("A hidden comment cannot be replied to");
  const { id } = network.world.reactions.addComment({
    id: network.world.snowflakes.next(now),
    platform: "instagram",
    account: account.externalId,
    mediaId: top.id,
    author: account.username,
    text,
    createdAt: now,
  });
  return { status: 200, body: { id } };
}

export function hideComment(network: InstagramNetwork, graphCall: GraphCall): Reply {
  const { parameters, id, account } = graphCall;
  parameters.checkNames(["hide"]);
  parameters.required("hide");
  const comment = findComment(network, graphCall, id) ?? refuseObject(id);
  const isOwn = comment.author === account.username;
  network.hidden.put(comment.id, parameters.flag("hide", false) && !isOwn);
  return { status: 200, body: { success: true } };
}

/**
 * With Facebook Login, Meta accepts the id of the Page and refuses the account's; with Instagram
 * Login the reverse.
 */
function senderIds(network: InstagramNetwork, { account, token }: GraphCall): readonly string[] {
  const pageId = network.ownerships.get(account.externalId)?.pageId ?? "me";
  return ["me", token.kind === "instagram" ? account.externalId : pageId];
}

export function sendPrivateReply(network: InstagramNetwork, graphCall: GraphCall): Reply {
  const { now, id } = graphCall;
  if (!senderIds(network, graphCall).includes(id)) return refuseObject(id);
  const { author } = sendReply(network, graphCall);
  const messageId = `m_${network.world.snowflakes.next(now)}`;
  return { status: 200, body: { recipient_id: authorId(author), message_id: messageId } };
}
