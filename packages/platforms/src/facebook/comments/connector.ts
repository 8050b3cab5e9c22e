import type {
  CommentPage,
  CommentQuery,
  CommentRef,
  CommentsConnector,
  Missing,
  PlatformComment,
} from "#src/comments/connector.ts";
import { MEANINGS } from "#src/facebook/publishing/error-meanings.ts";
import { changeComment, sendReply } from "#src/graph-api/comment-calls.ts";
import { toReadFailure } from "#src/graph-api/failures.ts";
import { findOwnReply, type ReplyList } from "#src/graph-api/find-own-replies.ts";
import { readGraphList } from "#src/graph-api/graph-list.ts";
import { callGraph, type GraphApi } from "#src/graph-api/graph-request.ts";
import { list, number, object, text } from "#src/http/platform-answer.ts";
import { type Failure, platformUnavailable } from "#src/publishing/outcome.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";

const MISSING: Missing = { kind: "missing" };

function numberOf(id: string): string {
  return id.split("_").at(-1) ?? "";
}

/**
 * The id of a post contains the id of its Page. The owner of a video or a photo has to be read,
 * because Facebook shows comments on the media of other Pages too.
 */
async function checkMedia(
  api: GraphApi,
  account: AccountAccess,
  mediaId: string,
  signal: AbortSignal,
): Promise<Missing | Failure | undefined> {
  const [page, number] = mediaId.split("_");
  if (number !== undefined) return page === account.externalId ? undefined : MISSING;
  const call = {
    method: "GET",
    path: encodeURIComponent(mediaId),
    query: { fields: "from" },
  } as const;
  const answer = await callGraph(api, account, call, signal);
  if (answer.kind === "no_answer" || answer.status !== 200) return toReadFailure(answer, MEANINGS);
  return text(object(answer.json, "from"), "id") === account.externalId ? undefined : MISSING;
}

/** Comments on a post with one photo may belong to the photo. */
async function readPhotoId(
  api: GraphApi,
  account: AccountAccess,
  mediaId: string,
  signal: AbortSignal,
): Promise<{ readonly photoId: string | undefined } | Missing | Failure> {
  const path = encodeURIComponent(mediaId);
  const query = { fields: "attachments{target}" };
  const answer = await callGraph(api, account, { method: "GET", path, query }, signal);
  if (answer.kind === "no_answer" || answer.status !== 200) return toReadFailure(answer, MEANINGS);
  const [attachment] = list(object(answer.json, "attachments"), "data");
  return { photoId: text(object(attachment, "target"), "id") };
}

/**
 * Checks that a comment is on a post or a video of the Page. At Facebook, the id of a comment
 * begins with the number of a post, and its field `object` names what has the comment: the post, a
 * video or a photo. For a post with one photo, both may mean the photo.
 */
async function isOnMedia(
  api: GraphApi,
  account: AccountAccess,
  { mediaId, commentId, objectId }: CommentRef & { readonly objectId: string | undefined },
  signal: AbortSignal,
): Promise<{ readonly kind: "on_media" } | Missing | Failure> {
  const refusal = await checkMedia(api, account, mediaId, signal);
  if (refusal !== undefined) return refusal;
  const [parent = ""] = commentId.split("_");
  const parents = new Set([parent, numberOf(objectId ?? "")]);
  if (parents.has(numberOf(mediaId))) return { kind: "on_media" };
  if (!mediaId.includes("_")) return MISSING;
  const read = await readPhotoId(api, account, mediaId, signal);
  if ("kind" in read) return read;
  const { photoId } = read;
  return photoId !== undefined && parents.has(photoId) ? { kind: "on_media" } : MISSING;
}

const FIELDS = "id,from,message,created_time,is_hidden,like_count,comment_count";
const UNREADABLE = platformUnavailable("Facebook's answer contains a comment that is unreadable");

const NEWEST_FIRST = { filter: "toplevel", order: "reverse_chronological" };

/** Undefined if it has no id or no readable time. */
function toComment(entry: unknown, { externalId }: AccountAccess): PlatformComment | undefined {
  const id = text(entry, "id");
  const createdAt = new Date(text(entry, "created_time") ?? "");
  if (id === undefined || Number.isNaN(createdAt.getTime())) return undefined;
  const from = object(entry, "from");
  return {
    id,
    text: text(entry, "message") ?? "",
    authorId: text(from, "id") ?? null,
    authorUsername: text(from, "name") ?? null,
    isOwn: text(from, "id") === externalId,
    createdAt,
    likeCount: number(entry, "like_count") ?? null,
    replyCount: number(entry, "comment_count") ?? null,
    hidden: (entry as { readonly is_hidden?: unknown }).is_hidden === true,
  };
}

export async function listComments(
  api: GraphApi,
  account: AccountAccess,
  { mediaId, limit, after }: CommentQuery,
  signal: AbortSignal,
): Promise<CommentPage | Missing | Failure> {
  const refusal = await checkMedia(api, account, mediaId, signal);
  if (refusal !== undefined) return refusal;
  const path = `${encodeURIComponent(mediaId)}/comments`;
  const call = { path, query: { ...NEWEST_FIRST, fields: FIELDS }, limit, after };
  const read = await readGraphList(api, account, call, signal);
  if (read.kind !== "list") return toReadFailure(read, MEANINGS);
  const comments = read.entries.flatMap((entry) => toComment(entry, account) ?? []);
  return { kind: "page", comments, next: read.next };
}

interface ReadComment {
  readonly kind: "comment";
  readonly comment: PlatformComment;
}

async function readComment(
  api: GraphApi,
  account: AccountAccess,
  { mediaId, commentId }: CommentRef,
  signal: AbortSignal,
): Promise<ReadComment | Missing | Failure> {
  const path = encodeURIComponent(commentId);
  const call = { method: "GET", path, query: { fields: `${FIELDS},parent,object` } } as const;
  const answer = await callGraph(api, account, call, signal);
  if (answer.kind === "no_answer" || answer.status !== 200) return toReadFailure(answer, MEANINGS);
  const { json } = answer;
  const comment = toComment(json, account);
  if (comment === undefined) return UNREADABLE;
  if (object(json, "parent") !== undefined) return { kind: "missing" };
  const objectId = text(object(json, "object"), "id");
  const check = await isOnMedia(api, account, { mediaId, commentId, objectId }, signal);
  if (check.kind !== "on_media") return check;
  return { kind: "comment", comment };
}

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
