import type { CommentsConnector } from "#src/comments/connector.ts";
import { MEANINGS } from "#src/facebook/publishing/error-meanings.ts";
import { changeComment, sendReply } from "#src/graph-api/comment-calls.ts";
import { findOwnReply, type ReplyList } from "#src/graph-api/find-own-replies.ts";
import type { GraphApi } from "#src/graph-api/graph-request.ts";
import { object, text } from "#src/http/platform-answer.ts";
import type { Failure } from "#src/publishing/outcome.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";
import { listComments, NEWEST_FIRST, readComment } from "./read-comments.ts";

const OWN_COMMENT: Failure = {
  kind: "refused",
  code: "content_rejected",
  message: "Facebook does not let a Page hide its own comments",
};
function repliesPath(commentId: string): string {
  return `${encodeURIComponent(commentId)}/comments`;
}

/**
 * A reply without an author may be the Page's own, because Facebook shows authors only with a
 * further permission.
 */
function toReplyList({ externalId }: AccountAccess, commentId: string): ReplyList {
  return {
    path: repliesPath(commentId),
    query: { ...NEWEST_FIRST, fields: "id,message,created_time,from" },
    toOwnReply: (entry) =>
      [undefined, externalId].includes(text(object(entry, "from"), "id"))
        ? {
            id: text(entry, "id") ?? "",
            text: text(entry, "message") ?? "",
            createdAt: Date.parse(text(entry, "created_time") ?? ""),
          }
        : undefined,
    own: MEANINGS,
  };
}

export function createFacebookCommentsConnector(api: GraphApi): CommentsConnector {
  return {
    platform: "facebook",
    actions: new Set(["reply", "hide", "unhide"]),
    listComments: (account, query, signal) => listComments(api, account, query, signal),
    readComment: (account, ref, signal) => readComment(api, account, ref, signal),
    reply: (account, { commentId, text: message }, guard) => {
      const reply = { path: repliesPath(commentId), message, own: MEANINGS };
      return sendReply(api, account, reply, guard);
    },
    reconcileReply: (account, request, call, signal) => {
      const replies = toReplyList(account, request.commentId);
      return findOwnReply(api, account, replies, { request, call, signal });
    },
    setHidden: async (account, { hidden, ...ref }, signal) => {
      const read = await readComment(api, account, ref, signal);
      if (read.kind !== "comment") return read;
      if (hidden && read.comment.isOwn) return OWN_COMMENT;
      const fields = { is_hidden: String(hidden) };
      const change = { commentId: ref.commentId, fields, own: MEANINGS };
      return await changeComment(api, account, change, signal);
    },
  };
}
