import type { GraphCall, GraphEndpoint } from "#src/graph/endpoint.ts";
import { refuseObject } from "#src/graph/errors.ts";
import { privateReplyOf, requireRepliable } from "#src/graph/private-replies.ts";
import type { Reply } from "#src/http/call.ts";
import { authorId } from "#src/instagram/comment-view.ts";
import type { InstagramNetwork } from "#src/instagram/network.ts";

/**
 * With Facebook Login, Meta accepts the id of the Page and refuses the account's; with Instagram
 * Login the reverse.
 */
function senderIds(network: InstagramNetwork, { account, token }: GraphCall): readonly string[] {
  const pageId = network.ownerships.get(account.externalId)?.pageId ?? "me";
  return ["me", token.kind === "instagram" ? account.externalId : pageId];
}

function send(network: InstagramNetwork, graphCall: GraphCall): Reply {
  const { now, id } = graphCall;
  if (!senderIds(network, graphCall).includes(id)) return refuseObject(id);

  const { commentId, text } = privateReplyOf(graphCall);
  const comment = requireRepliable(network, graphCall, commentId);
  network.privateReplies.send(comment, text, now);
  const recipientId = authorId(comment.author);
  const body = { recipient_id: recipientId, message_id: `m_${network.world.snowflakes.next(now)}` };
  return { status: 200, body };
}

export function sendPrivateReply(network: InstagramNetwork): GraphEndpoint {
  return {
    method: "POST",
    path: "/:id/messages",
    operations: () => ["reply"],
    scope: "instagram_manage_messages",
    handle: (graphCall) => send(network, graphCall),
  };
}
