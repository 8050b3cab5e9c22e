import { authorId } from "#src/facebook/comment-view.ts";
import { checkPage } from "#src/facebook/feed.ts";
import type { FacebookNetwork } from "#src/facebook/network.ts";
import type { GraphCall, GraphEndpoint } from "#src/graph/endpoint.ts";
import { privateReplyOf, requireRepliable } from "#src/graph/private-replies.ts";
import type { Reply } from "#src/http/call.ts";

function send(network: FacebookNetwork, graphCall: GraphCall): Reply {
  const { now } = graphCall;
  checkPage(graphCall);
  const { commentId, text } = privateReplyOf(graphCall);
  const comment = requireRepliable(network, graphCall, commentId);
  network.privateReplies.send(comment, text, now);
  const body = { recipient_id: authorId(comment.author), message_id: `m_${commentId}` };
  return { status: 200, body };
}

export function sendPrivateReply(network: FacebookNetwork): GraphEndpoint {
  return {
    method: "POST",
    path: "/:id/messages",
    operations: () => ["reply"],
    scope: "pages_messaging",
    handle: (graphCall) => send(network, graphCall),
  };
}
