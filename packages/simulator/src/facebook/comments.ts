import { commentView, newCommentId } from "#src/facebook/comment-view.ts";
import type { FacebookNetwork } from "#src/facebook/network.ts";
import { type GraphCall, type GraphEndpoint, requireScope } from "#src/graph/endpoint.ts";
import { refuseObject, refuseParameter } from "#src/graph/errors.ts";
import { PAGING, pageOf } from "#src/graph/paging.ts";
import { pickFields } from "#src/graph/parameters.ts";
import type { Reply } from "#src/http/call.ts";
import type { Post } from "#src/world/posts.ts";
import type { Comment } from "#src/world/reactions.ts";

const SUCCESS: Reply = { status: 200, body: { success: true } };

export function findVisiblePost(
  { world }: FacebookNetwork,
  { account }: Pick<GraphCall, "account">,
  id: string,
): Post | undefined {
  const post =
    world.posts.get(account, id) ??
    world.posts.get(account, id.replace(`${account.externalId}_`, ""));
  return post?.deletedAt === null ? post : undefined;
}

/**
 * An app with Meta's feature Page Public Content Access reads the posts of all Pages and their
 * comments.
 */
export function findPublicPost(network: FacebookNetwork, id: string): Post | undefined {
  const number = id.split("_").at(-1) ?? "";
  const page = network.posts.get(id)?.page ?? network.videos.get(number)?.page;
  const account = network.world.accounts.byId("facebook", page ?? "");
  return account === undefined ? undefined : findVisiblePost(network, { account }, id);
}

export function findPublicComment(network: FacebookNetwork, id: string): Comment | undefined {
  const comment = network.world.reactions.comment("facebook", id);
  const account = network.world.accounts.byId("facebook", comment?.account ?? "");
  return account === undefined ? undefined : findComment(network, { account }, id);
}

export function findComment(
  network: FacebookNetwork,
  graphCall: Pick<GraphCall, "account">,
  id: string,
): Comment | undefined {
  const { reactions } = network.world;
  const comment = reactions.comment("facebook", id);
  const top = reactions.comment("facebook", comment?.mediaId ?? "") ?? comment;
  const post = findVisiblePost(network, graphCall, top?.mediaId ?? "");
  return post === undefined ? undefined : comment;
}

function list(network: FacebookNetwork, graphCall: GraphCall): Reply {
  const { parameters, id, asOf } = graphCall;
  parameters.checkNames(["filter", "order", ...PAGING]);
  if (parameters.has("filter")) parameters.oneOf("filter", ["toplevel"]);

  const isNewestFirst = parameters.text("order") === "reverse_chronological";
  const parent = findPublicPost(network, id) ?? findPublicComment(network, id);
  const all = network.world.reactions
    .commentsOn("facebook", parent?.id ?? refuseObject(id))
    .filter((comment) => comment.createdAt <= asOf);
  const { items, paging } = pageOf(isNewestFirst ? all.toReversed() : all, graphCall);
  const data = items.map((comment) =>
    pickFields(parameters, commentView(network, comment, graphCall), ["created_time", "message"]),
  );
  return { status: 200, body: { data, ...paging } };
}

/** With the id of a comment in the path, lists the replies to this comment. */
export function listComments(network: FacebookNetwork): GraphEndpoint {
  return {
    method: "GET",
    path: "/:id/comments",
    operations: () => ["comments"],
    reads: true,
    // On Facebook, reading comments needs a separate permission, because other people wrote the
    // comments. The permission to read the Page's posts does not suffice.
    scope: "pages_read_user_content",
    handle: (graphCall) => list(network, graphCall),
  };
}

function reply(network: FacebookNetwork, graphCall: GraphCall): Reply {
  const { parameters, id, account, now } = graphCall;
  parameters.checkNames(["message"]);
  const text = parameters.required("message");
  const comment = findComment(network, graphCall, id) ?? refuseObject(id);
  const { reactions } = network.world;
  const top = reactions.comment("facebook", comment.mediaId) ?? comment;
  const made = reactions.addComment({
    id: newCommentId(network, now, top.mediaId),
    platform: "facebook",
    account: account.externalId,
    mediaId: top.id,
    author: account.username,
    text,
    createdAt: now,
  });
  return { status: 200, body: { id: made.id } };
}

export function replyToComment(network: FacebookNetwork): GraphEndpoint {
  return {
    method: "POST",
    path: "/:id/comments",
    operations: () => ["reply"],
    scope: "pages_manage_engagement",
    handle: (graphCall) => reply(network, graphCall),
  };
}

/** Undefined when the Page has no comment with the id in the path. */
export function hideComment(network: FacebookNetwork, graphCall: GraphCall): Reply | undefined {
  const { parameters, id, account, token } = graphCall;
  const comment = findComment(network, graphCall, id);
  if (comment === undefined) return undefined;

  requireScope(token, "pages_manage_engagement");
  parameters.checkNames(["is_hidden"]);
  parameters.required("is_hidden");
  if (comment.author === account.username)
    return refuseParameter("The Page cannot hide its own comment.");

  network.hidden.put(id, parameters.flag("is_hidden", false));
  return SUCCESS;
}
