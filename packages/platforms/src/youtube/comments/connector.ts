import type { CommentsConnector } from "#src/comments/connector.ts";
import { listComments } from "./list-comments.ts";
import { readComment } from "./read-comment.ts";
import { reconcileReply } from "./reconcile-reply.ts";
import { reply } from "./reply.ts";
import { setHidden } from "./set-hidden.ts";

/**
 * Reading a page of comments costs three units of the daily quota, a reply or a change of the
 * moderation status 50.
 */
export function createYoutubeCommentsConnector({
  baseUrl,
}: {
  readonly baseUrl: string;
}): CommentsConnector {
  return {
    platform: "youtube",
    actions: new Set(["reply", "hide", "unhide"]),
    listComments: (account, query, signal) =>
      listComments({ baseUrl, account, videoId: query.mediaId }, query, signal),
    readComment: (account, comment, signal) => readComment(baseUrl, account, comment, signal),
    reply: (account, request, guard) => reply(baseUrl, account, request, guard),
    reconcileReply: (account, request, call, signal) =>
      reconcileReply(baseUrl, account, request, call, signal),
    setHidden: (account, request, signal) => setHidden(baseUrl, account, request, signal),
  };
}
