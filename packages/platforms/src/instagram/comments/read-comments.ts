import type { CommentRef, Missing, PlatformComment } from "#src/comments/connector.ts";
import { toReadFailure } from "#src/graph-api/failures.ts";
import { callGraph, type GraphApi } from "#src/graph-api/graph-request.ts";
import { list, number, object, text } from "#src/http/platform-answer.ts";
import { MEANINGS } from "#src/instagram/publishing/error-meanings.ts";
import { type Failure, platformUnavailable } from "#src/publishing/outcome.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";

/** Maximum number of replies that are counted. Above it the number is not known. */
const MAX_COUNTED_REPLIES = 50;
/** Instagram gives the field `user` only on comments that the account itself wrote. */
export const FIELDS = `id,text,timestamp,username,from,user,hidden,like_count,replies.limit(${MAX_COUNTED_REPLIES}){id}`;
export const SINGLE_FIELDS = `${FIELDS},parent_id,media`;
export const UNREADABLE = platformUnavailable(
  "Instagram's answer contains a comment that is unreadable",
);

/** Instagram has no field for the number of replies; null when there are more than it lists. */
function countReplies(entry: unknown): number | null {
  const replies = object(entry, "replies");
  return text(object(replies, "paging"), "next") === undefined
    ? list(replies, "data").length
    : null;
}

export function toComment(entry: unknown, account: AccountAccess): PlatformComment | undefined {
  const id = text(entry, "id");
  const createdAt = new Date(text(entry, "timestamp") ?? "");
  if (id === undefined || Number.isNaN(createdAt.getTime())) return undefined;
  const from = object(entry, "from");
  return {
    id,
    text: text(entry, "text") ?? "",
    authorId: text(from, "id") ?? null,
    authorUsername: text(from, "username") ?? text(entry, "username") ?? null,
    isOwn: isOwnComment(entry, account),
    createdAt,
    likeCount: number(entry, "like_count") ?? null,
    replyCount: countReplies(entry),
    hidden: (entry as { readonly hidden?: unknown }).hidden === true,
  };
}

interface ReadComment {
  readonly kind: "comment";
  readonly comment: PlatformComment;
}

/** The id in `from` differs between apps, so it proves nothing. */
export function isOwnComment(entry: unknown, { username }: AccountAccess): boolean {
  return object(entry, "user") !== undefined || text(entry, "username") === username;
}

export function isTopLevelOn(entry: unknown, mediaId: string): boolean {
  const isOnMedia = text(object(entry, "media"), "id") === mediaId;
  return isOnMedia && text(entry, "parent_id") === undefined;
}

export async function readComment(
  api: GraphApi,
  account: AccountAccess,
  { mediaId, commentId }: CommentRef,
  signal: AbortSignal,
): Promise<ReadComment | Missing | Failure> {
  const path = encodeURIComponent(commentId);
  const call = { method: "GET", path, query: { fields: SINGLE_FIELDS } } as const;
  const answer = await callGraph(api, account, call, signal);
  if (answer.kind === "no_answer" || answer.status !== 200) return toReadFailure(answer, MEANINGS);
  const { json } = answer;
  const comment = toComment(json, account);
  if (comment === undefined) return UNREADABLE;
  return isTopLevelOn(json, mediaId) ? { kind: "comment", comment } : { kind: "missing" };
}
