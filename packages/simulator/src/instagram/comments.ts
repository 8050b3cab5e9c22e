import type { GraphCall, GraphEndpoint } from "#src/graph/endpoint.ts";
import { refuseObject, refuseParameter } from "#src/graph/errors.ts";
import { PAGING, pageOf } from "#src/graph/paging.ts";
import { pickFields } from "#src/graph/parameters.ts";
import type { Reply } from "#src/http/call.ts";
import { commentView } from "#src/instagram/comment-view.ts";
import type { InstagramNetwork } from "#src/instagram/network.ts";
import type { Comment } from "#src/world/reactions.ts";

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

function list(network: InstagramNetwork, graphCall: GraphCall): Reply {
  const { account, id } = graphCall;
  const { posts, reactions } = network.world;
  const post = posts.get(account, id);
  return post?.deletedAt === null
    ? answerList(network, graphCall, reactions.commentsOn("instagram", id))
    : refuseObject(id);
}

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

function listReplies(network: InstagramNetwork, graphCall: GraphCall): Reply {
  const comment = findComment(network, graphCall, graphCall.id) ?? refuseObject(graphCall.id);
  const replies = network.world.reactions.commentsOn("instagram", comment.id);
  return answerList(network, graphCall, replies);
}

export function readReplies(network: InstagramNetwork): GraphEndpoint {
  return {
    method: "GET",
    path: "/:id/replies",
    operations: () => ["comments"],
    reads: true,
    scope: "instagram_manage_comments",
    handle: (graphCall) => listReplies(network, graphCall),
  };
}

/** A reply to a reply is stored as a reply to the top-level comment. */
function reply(network: InstagramNetwork, graphCall: GraphCall): Reply {
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

export function replyToComment(network: InstagramNetwork): GraphEndpoint {
  return {
    method: "POST",
    path: "/:id/replies",
    operations: () => ["reply"],
    scope: "instagram_manage_comments",
    handle: (graphCall) => reply(network, graphCall),
  };
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
