import type { CommentsConnector } from "#src/comments/connector.ts";
import { changeComment, sendReply } from "#src/graph-api/comment-calls.ts";
import { findOwnReply, type ReplyList } from "#src/graph-api/find-own-replies.ts";
import { text } from "#src/http/platform-answer.ts";
import { apiOfAccount, type InstagramSettings } from "#src/instagram/api-of-account.ts";
import { MEANINGS } from "#src/instagram/publishing/error-meanings.ts";
import type { Failure } from "#src/publishing/outcome.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";
import { listComments, readComments } from "./list-comments.ts";
import { isOwnComment, readComment } from "./read-comments.ts";

/**
 * Instagram answers with success when an account hides its own comment, and shows the comment all
 * the same.
 */
const OWN_COMMENT: Failure = {
  kind: "refused",
  code: "content_rejected",
  message: "Instagram always shows the account's own comments",
};

function repliesPath(commentId: string): string {
  return `${encodeURIComponent(commentId)}/replies`;
}

function toReplyList(account: AccountAccess, commentId: string): ReplyList {
  return {
    path: repliesPath(commentId),
    query: { fields: "id,text,timestamp,username,user" },
    toOwnReply: (entry) =>
      isOwnComment(entry, account)
        ? {
            id: text(entry, "id") ?? "",
            text: text(entry, "text") ?? "",
            createdAt: Date.parse(text(entry, "timestamp") ?? ""),
          }
        : undefined,
    own: MEANINGS,
  };
}

export function createInstagramCommentsConnector(settings: InstagramSettings): CommentsConnector {
  const apiOf = (account: AccountAccess) => apiOfAccount(settings, account);
  return {
    platform: "instagram",
    actions: new Set(["reply", "hide", "unhide"]),
    listComments: (account, query, signal) => listComments(apiOf(account), account, query, signal),
    readComment: (account, ref, signal) => readComment(apiOf(account), account, ref, signal),
    readComments: (account, query, signal) => readComments(apiOf(account), account, query, signal),
    reply: (account, { commentId, text: message }, guard) => {
      const reply = { path: repliesPath(commentId), message, own: MEANINGS };
      return sendReply(apiOf(account), account, reply, guard);
    },
    reconcileReply: (account, request, call, signal) => {
      const replies = toReplyList(account, request.commentId);
      return findOwnReply(apiOf(account), account, replies, { request, call, signal });
    },
    setHidden: async (account, { hidden, ...ref }, signal) => {
      const api = apiOf(account);
      const read = await readComment(api, account, ref, signal);
      if (read.kind !== "comment") return read;
      if (hidden && read.comment.isOwn) return OWN_COMMENT;
      const change = { commentId: ref.commentId, fields: { hide: String(hidden) }, own: MEANINGS };
      return await changeComment(api, account, change, signal);
    },
  };
}
