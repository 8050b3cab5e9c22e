import type {
  CommentPage,
  CommentQuery,
  CommentsConnector,
  Missing,
  PlatformComment,
} from "#src/comments/connector.ts";
import { changeComment, sendReply } from "#src/graph-api/comment-calls.ts";
import { toReadFailure } from "#src/graph-api/failures.ts";
import { findOwnReply, type ReplyList } from "#src/graph-api/find-own-replies.ts";
import { readGraphList } from "#src/graph-api/graph-list.ts";
import type { GraphApi } from "#src/graph-api/graph-request.ts";
import { readNodes } from "#src/graph-api/read-nodes.ts";
import { text } from "#src/http/platform-answer.ts";
import { apiOfAccount, type InstagramSettings } from "#src/instagram/api-of-account.ts";
import { MEANINGS } from "#src/instagram/publishing/error-meanings.ts";
import { type Failure, platformUnavailable } from "#src/publishing/outcome.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";
import {
  FIELDS,
  isOwnComment,
  isTopLevelOn,
  readComment,
  SINGLE_FIELDS,
  toComment,
} from "./read-comments.ts";

/**
 * Instagram refuses media of other accounts, and leaves hidden comments out; `readComments` still
 * returns them.
 */
export async function listComments(
  api: GraphApi,
  account: AccountAccess,
  { mediaId, limit, after }: CommentQuery,
  signal: AbortSignal,
): Promise<CommentPage | Missing | Failure> {
  const path = `${encodeURIComponent(mediaId)}/comments`;
  const call = { path, query: { fields: FIELDS }, limit, after };
  const read = await readGraphList(api, account, call, signal);
  if (read.kind !== "list") return toReadFailure(read, MEANINGS);
  const comments = read.entries.flatMap((entry) => toComment(entry, account) ?? []);
  return { kind: "page", comments, next: read.next };
}

async function readComments(
  api: GraphApi,
  account: AccountAccess,
  { mediaId, commentIds }: { readonly mediaId: string; readonly commentIds: readonly string[] },
  signal: AbortSignal,
): Promise<{ readonly kind: "comments"; readonly comments: readonly PlatformComment[] } | Failure> {
  const query = { ids: commentIds, fields: SINGLE_FIELDS, own: MEANINGS };
  const read = await readNodes(api, account, query, signal);
  if (read.kind === "no_answer") return platformUnavailable(read.message);
  if (read.kind !== "nodes") return read;
  const comments = [...read.nodes.values()].flatMap((reading) => {
    if (reading.kind !== "node" || !isTopLevelOn(reading.node, mediaId)) return [];
    const comment = toComment(reading.node, account);
    return comment === undefined ? [] : [comment];
  });
  return { kind: "comments", comments };
}

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
