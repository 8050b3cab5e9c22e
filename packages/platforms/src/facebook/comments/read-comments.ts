import type {
  CommentPage,
  CommentQuery,
  CommentRef,
  Missing,
  PlatformComment,
} from "#src/comments/connector.ts";
import { MEANINGS } from "#src/facebook/publishing/error-meanings.ts";
import { callGraph } from "#src/graph-api/call-graph.ts";
import { readGraphList } from "#src/graph-api/graph-list.ts";
import type { GraphApi } from "#src/graph-api/graph-request.ts";
import { toReadFailure } from "#src/graph-api/read-failure.ts";
import { number, object, text } from "#src/http/platform-answer.ts";
import { type Failure, platformUnavailable } from "#src/publishing/outcome.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";
import { checkMedia, isOnMedia } from "./own-media.ts";

const FIELDS = "id,from,message,created_time,is_hidden,like_count,comment_count";
const UNREADABLE = platformUnavailable("Facebook's answer contains a comment that is unreadable");

export const NEWEST_FIRST = { filter: "toplevel", order: "reverse_chronological" };

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

export async function readComment(
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
