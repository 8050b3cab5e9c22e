import type { GraphCall, GraphEndpoint } from "#src/graph/endpoint.ts";
import { refuseObject } from "#src/graph/errors.ts";
import { pickFields } from "#src/graph/parameters.ts";
import type { Reply } from "#src/http/call.ts";
import { hideComment } from "#src/instagram/comments.ts";
import { findPost } from "#src/instagram/network.ts";
import type { InstagramNetwork } from "#src/instagram/network.ts";
import { accountView, commentView, containerView, mediaView } from "#src/instagram/views.ts";
import type { View } from "#src/instagram/views.ts";
import { isVisibleAt } from "#src/world/posts.ts";

/**
 * The response to a call about the owner of an Instagram token: the account for a token of
 * Instagram Login, otherwise the account's Page.
 */
function ownerView(network: InstagramNetwork, { account, token }: GraphCall): View {
  if (token.kind === "instagram") {
    return { ...accountView(account), user_id: account.externalId };
  }
  const ownership = network.ownerships.get(account.externalId);
  return {
    id: ownership?.pageId,
    name: ownership?.pageName,
    instagram_business_account: accountView(account),
  };
}

function viewOf(network: InstagramNetwork, graphCall: GraphCall): View | undefined {
  const { id, account, asOf } = graphCall;
  if (id === "me" || id === network.ownerships.get(account.externalId)?.pageId) {
    return ownerView(network, graphCall);
  }
  if (id === account.externalId) {
    return accountView(account);
  }
  const container = network.containers.find(account.externalId, id, asOf);
  if (container !== undefined) {
    return containerView(network.containers, container, asOf);
  }
  const found = findPost(network, account, id);
  if (found !== undefined && isVisibleAt(found.post, asOf)) {
    return mediaView(network, found.post, found.detail, account);
  }
  const comment = network.world.reactions.comment("instagram", id);
  return comment?.account === account.externalId
    ? commentView(network, comment, account)
    : undefined;
}

function read(network: InstagramNetwork, graphCall: GraphCall): Reply {
  const { parameters, id } = graphCall;
  parameters.checkNames([]);
  const view = viewOf(network, graphCall) ?? refuseObject(id);
  return { status: 200, body: pickFields(parameters, view) };
}

/** `GET /:id`: reads the Instagram account, its Page, a container, a post or a comment. */
export function readNode(network: InstagramNetwork): GraphEndpoint {
  return {
    method: "GET",
    path: "/:id",
    operations: ({ params }) => (params["id"] === "me" ? ["account"] : ["status"]),
    reads: true,
    scope: "instagram_basic",
    handle: (graphCall) => read(network, graphCall),
  };
}

/** `POST /:comment`: hides or shows an Instagram comment. */
export function updateNode(network: InstagramNetwork): GraphEndpoint {
  return {
    method: "POST",
    path: "/:id",
    operations: () => ["hide"],
    scope: "instagram_manage_comments",
    handle: (graphCall) => hideComment(network, graphCall),
  };
}

function remove(network: InstagramNetwork, { id, account, parameters, now }: GraphCall): Reply {
  parameters.checkNames([]);
  const found = findPost(network, account, id);
  if (found === undefined || found.post.deletedAt !== null) {
    return refuseObject(id);
  }
  network.world.posts.change(found.post, { deletedAt: now });
  return { status: 200, body: { success: true, deleted_id: id } };
}

/** `DELETE /:media`: deletes an Instagram post. */
export function deleteNode(network: InstagramNetwork): GraphEndpoint {
  return {
    method: "DELETE",
    path: "/:id",
    operations: () => ["delete"],
    scope: "instagram_manage_contents",
    handle: (graphCall) => remove(network, graphCall),
  };
}
