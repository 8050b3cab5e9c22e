import type { CommentsConnector } from "#src/comments/connector.ts";
import type { XSettings } from "../publishing/connector.ts";
import { listComments } from "./list-comments.ts";
import { readComment } from "./read-comment.ts";
import { reconcileReply, reply } from "./reply.ts";
import { setHidden } from "./set-hidden.ts";

/**
 * X lists replies of the last seven days only, does not say which are hidden, and lets apps reply
 * only to authors who mentioned or quoted the account.
 */
export function createXCommentsConnector(settings: XSettings): CommentsConnector {
  const { baseUrl } = settings;
  return {
    platform: "x",
    actions: new Set(["reply", "hide", "unhide"]),
    listComments: (account, query, signal) => listComments(baseUrl, account, query, signal),
    readComment: (account, comment, signal) => readComment(baseUrl, account, comment, signal),
    reply: (account, request, guard) => reply(baseUrl, account, request, guard),
    reconcileReply: (account, request, call, signal) =>
      reconcileReply(settings, account, request, call, signal),
    setHidden: (account, request, signal) => setHidden(baseUrl, account, request, signal),
  };
}
