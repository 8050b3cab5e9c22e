import { checkPage } from "#src/facebook/feed.ts";
import type { FacebookNetwork } from "#src/facebook/network.ts";
import { sendReply, timeView } from "#src/graph/common-endpoints.ts";
import { type GraphCall, requireScope } from "#src/graph/endpoint.ts";
import { refuseObject, refuseParameter } from "#src/graph/errors.ts";
import { pageOf, PAGING } from "#src/graph/paging.ts";
import { pickFields } from "#src/graph/parameters.ts";
import type { Reply } from "#src/http/call.ts";
import type { Post } from "#src/world/posts.ts";
import type { Comment } from "#src/world/reactions.ts";

/** Readers have no accounts in the simulator, so their ids come from their names. */
function authorId(author: string): string {
  const digits = Buffer.from(author).reduce(
    (sum, byte) => (sum * 31n + BigInt(byte)) % 10n ** 15n,
    7n,
  );
  return `3${digits.toString().padStart(15, "0")}`;
}

export function newCommentId({ world }: FacebookNetwork, now: number, postId: string): string {
  return `${postId.split("_").at(-1) ?? ""}_${world.snowflakes.next(now)}`;
}

export function commentView(
  { world, hidden, privateReplies }: FacebookNetwork,
  comment: Comment,
  { account, asOf }: Pick<GraphCall, "account" | "asOf">,
): Readonly<Record<string, unknown>> {
  const { id, author, mediaId } = comment;
  const isOwn = author === account.username;
  const parent = world.reactions.comment("facebook", mediaId);
  const conversation = privateReplies.hasAt(id, asOf) ? { id: `t_${id}` } : undefined;
  return {
    id,
    from: isOwn
      ? { id: account.externalId, name: account.displayName }
      : { id: authorId(author), name: author },
    message: comment.text,
    created_time: timeView(comment.createdAt),
    is_hidden: hidden.get(id) ?? false,
    can_hide: !isOwn,
    can_reply_privately: !isOwn && privateReplies.acceptsAt(comment, asOf),
    private_reply_conversation: conversation,
    object: { id: parent?.mediaId ?? mediaId },
    parent: parent === undefined ? undefined : { id: parent.id },
    like_count: 0,
    comment_count: world.reactions.countComments("facebook", id, asOf),
  };
}

const SUCCESS: Reply = { status: 200, body: { success: true } };

function findVisiblePost(
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

function findComment(
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

export function listComments(network: FacebookNetwork, graphCall: GraphCall): Reply {
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

export function replyToComment(network: FacebookNetwork, graphCall: GraphCall): Reply {
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

export function sendPrivateReply(network: FacebookNetwork, graphCall: GraphCall): Reply {
  checkPage(graphCall);
  const { id, author } = sendReply(network, graphCall);
  return { status: 200, body: { recipient_id: authorId(author), message_id: `m_${id}` } };
}
