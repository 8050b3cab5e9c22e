import type {
  CommentPage,
  CommentQuery,
  CommentRef,
  CommentsConnector,
  Missing,
  PlatformComment,
} from "#src/comments/connector.ts";
import {
  createGraphCommentsConnector,
  type ReadComment,
} from "#src/graph-api/comments-connector.ts";
import { toReadFailure } from "#src/graph-api/failures.ts";
import { readGraphList, toGraphSite } from "#src/graph-api/graph-request.ts";
import { readExisting } from "#src/graph-api/read-nodes.ts";
import { count, list, object, text, time } from "#src/http/platform-answer.ts";
import {
  apiOfAccount,
  type InstagramSettings,
  openOfAccount,
} from "#src/instagram/api-of-account.ts";
import { MEANINGS } from "#src/instagram/publishing/error-meanings.ts";
import { ask, type Caller, forAccounts } from "#src/publishing/caller.ts";
import { type Failure, platformUnavailable } from "#src/publishing/outcome.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";

/** Maximum number of replies that are counted. Above it the number is not known. */
const MAX_COUNTED_REPLIES = 50;

/** Instagram gives the field `user` only on comments that the account itself wrote. */
const FIELDS = `id,text,timestamp,username,from,user,hidden,like_count,replies.limit(${MAX_COUNTED_REPLIES}){id}`;
const SINGLE_FIELDS = `${FIELDS},parent_id,media`;

const UNREADABLE = platformUnavailable("Instagram's answer contains a comment that is unreadable");

/** Instagram has no field for the number of replies; null when there are more than it lists. */
function countReplies(entry: unknown): number | null {
  const replies = object(entry, "replies");
  const isMore = text(object(replies, "paging"), "next") !== undefined;
  return isMore ? null : list(replies, "data").length;
}

/** The id in `from` differs between apps, so it proves nothing. */
function isOwnComment(entry: unknown, { username }: AccountAccess): boolean {
  return object(entry, "user") !== undefined || text(entry, "username") === username;
}

function toComment(entry: unknown, account: AccountAccess): PlatformComment | undefined {
  const id = text(entry, "id");
  const createdAt = time(entry, "timestamp");
  if (id === undefined || createdAt === undefined) return undefined;
  const from = object(entry, "from");
  return {
    id,
    text: text(entry, "text") ?? "",
    authorId: text(from, "id") ?? null,
    authorUsername: text(from, "username") ?? text(entry, "username") ?? null,
    isOwn: isOwnComment(entry, account),
    createdAt,
    likeCount: count(entry, "like_count"),
    replyCount: countReplies(entry),
    hidden: (entry as { readonly hidden?: unknown }).hidden === true,
  };
}

function isTopLevelOn(entry: unknown, mediaId: string): boolean {
  const isOnMedia = text(object(entry, "media"), "id") === mediaId;
  return isOnMedia && text(entry, "parent_id") === undefined;
}

/**
 * Instagram refuses media of other accounts, and leaves hidden comments out; `readComments` still
 * returns them.
 */
export async function listComments(
  graph: Caller,
  { mediaId, limit, after }: CommentQuery,
): Promise<CommentPage | Missing | Failure> {
  const path = `${encodeURIComponent(mediaId)}/comments`;
  const read = await readGraphList(graph, { path, query: { fields: FIELDS }, limit, after });
  if (read.kind !== "list") return toReadFailure(read, MEANINGS);
  const comments = read.entries.flatMap((entry) => toComment(entry, graph.account) ?? []);
  return { kind: "page", comments, next: read.next ?? undefined };
}

async function readComment(
  graph: Caller,
  { mediaId, commentId }: CommentRef,
): Promise<ReadComment | Missing | Failure> {
  const query = { fields: SINGLE_FIELDS };
  const answer = await ask(graph, { path: encodeURIComponent(commentId), query });
  if (answer.kind === "no_answer" || answer.status !== 200) return toReadFailure(answer, MEANINGS);
  const comment = toComment(answer.json, graph.account);
  if (comment === undefined) return UNREADABLE;
  return isTopLevelOn(answer.json, mediaId) ? { kind: "comment", comment } : { kind: "missing" };
}

async function readComments(
  graph: Caller,
  { mediaId, commentIds }: { readonly mediaId: string; readonly commentIds: readonly string[] },
): Promise<{ readonly kind: "comments"; readonly comments: readonly PlatformComment[] } | Failure> {
  const nodes = await readExisting(graph, {
    ids: commentIds,
    fields: SINGLE_FIELDS,
    own: MEANINGS,
  });
  if ("kind" in nodes) return nodes;
  const comments = nodes
    .filter((node) => isTopLevelOn(node, mediaId))
    .flatMap((node) => toComment(node, graph.account) ?? []);
  return { kind: "comments", comments };
}

export function createInstagramCommentsConnector(settings: InstagramSettings): CommentsConnector {
  const connector = createGraphCommentsConnector({
    platform: "instagram",
    siteOf: (account) => toGraphSite(apiOfAccount(settings, account), account),
    listComments,
    readComment,
    replies: "replies",
    replyFields: { fields: "id,text,timestamp,username,user" },
    toOwnReply: (entry, account) =>
      isOwnComment(entry, account)
        ? {
            id: text(entry, "id") ?? "",
            text: text(entry, "text") ?? "",
            createdAt: Date.parse(text(entry, "timestamp") ?? ""),
          }
        : undefined,
    hidden: "hide",
    // Instagram answers with success, and shows the comment all the same.
    ownComment: "Instagram always shows the account's own comments",
    own: MEANINGS,
  });
  return { ...connector, ...forAccounts(openOfAccount(settings), { readComments }) };
}
