import { type GraphCall, requireScope } from "#src/graph/endpoint.ts";
import { refuseObject } from "#src/graph/errors.ts";
import { pageOf, PAGING } from "#src/graph/paging.ts";
import { pickFields } from "#src/graph/parameters.ts";
import type { Reply } from "#src/http/call.ts";
import { commentView, findComment } from "#src/instagram/comments.ts";
import { findPost, type InstagramNetwork } from "#src/instagram/network.ts";
import { accountView, containerView, postView, type View } from "#src/instagram/views.ts";
import { existsAt } from "#src/world/posts.ts";

/** `like_count` alone does not suffice, because calls for comments request it, too. */
export const COUNTERS = "like_count,comments_count";

/** The account for a token of Instagram Login, otherwise the account's Page. */
function ownerView(network: InstagramNetwork, { account, token }: GraphCall): View {
  if (token.kind === "instagram") return { ...accountView(account), user_id: account.externalId };
  const ownership = network.ownerships.get(account.externalId);
  return {
    id: ownership?.pageId,
    name: ownership?.pageName,
    instagram_business_account: accountView(account),
  };
}

function isReadRefused({ world }: InstagramNetwork, { token }: GraphCall): boolean {
  return token.kind === "page" && world.settings.values.instagramPageTokenReads === "refused";
}

function findView(network: InstagramNetwork, graphCall: GraphCall): View | undefined {
  const { id, account } = graphCall;
  if (id === "me" || id === network.ownerships.get(account.externalId)?.pageId)
    return ownerView(network, graphCall);
  if (id === account.externalId) return accountView(account);
  return isReadRefused(network, graphCall) ? undefined : findObjectView(network, graphCall);
}

function findObjectView(network: InstagramNetwork, graphCall: GraphCall): View | undefined {
  const { id, account, asOf } = graphCall;
  const container = network.containers.find(account.externalId, id, asOf);
  if (container !== undefined) return containerView(network.containers, container, asOf);
  const found = findPost(network, account, id);
  if (found !== undefined && existsAt(found.post, asOf))
    return postView(network, graphCall, found.post, found.detail);
  const comment = findComment(network, graphCall, id);
  if (comment === undefined || comment.createdAt > asOf) return undefined;
  requireScope(graphCall.token, "instagram_manage_comments");
  return commentView(network, comment, account, asOf);
}

function viewOf(network: InstagramNetwork, graphCall: GraphCall): View {
  return findView(network, graphCall) ?? refuseObject(graphCall.id);
}

export function readNode(network: InstagramNetwork, graphCall: GraphCall): Reply {
  const { parameters } = graphCall;
  parameters.checkNames([]);
  return { status: 200, body: pickFields(parameters, viewOf(network, graphCall)) };
}

export function deleteNode(
  network: InstagramNetwork,
  { id, account, parameters, now }: GraphCall,
): Reply {
  parameters.checkNames([]);
  const found = findPost(network, account, id);
  if (found === undefined || found.post.deletedAt !== null) return refuseObject(id);
  network.world.posts.change(found.post, { deletedAt: now });
  return { status: 200, body: { success: true, deleted_id: id } };
}

export function listOwnMedia(network: InstagramNetwork, graphCall: GraphCall): Reply {
  const { account, parameters, asOf, id } = graphCall;
  if (id !== account.externalId) return refuseObject(id);
  parameters.checkNames(PAGING);
  const posts = network.world.posts.newestFirst(account).filter((post) => existsAt(post, asOf));
  const { items, paging } = pageOf(posts, graphCall);
  const data = items.flatMap((post) => {
    const detail = network.details.find(post.id);
    return detail === undefined
      ? []
      : pickFields(parameters, postView(network, graphCall, post, detail));
  });
  return { status: 200, body: { data, ...paging } };
}
