import type {
  CommentPage,
  CommentQuery,
  CommentRef,
  CommentsConnector,
  Missing,
  PlatformComment,
} from "#src/comments/connector.ts";
import { MEANINGS } from "#src/facebook/publishing/error-meanings.ts";
import {
  createGraphCommentsConnector,
  type ReadComment,
} from "#src/graph-api/comments-connector.ts";
import { toReadFailure } from "#src/graph-api/failures.ts";
import { type GraphApi, readGraphList, toGraphSite } from "#src/graph-api/graph-request.ts";
import { count, list, object, text, time } from "#src/http/platform-answer.ts";
import { ask, type Caller } from "#src/publishing/caller.ts";
import { type Failure, platformUnavailable } from "#src/publishing/outcome.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";

const MISSING: Missing = { kind: "missing" };

function numberOf(id: string): string {
  return id.split("_").at(-1) ?? "";
}

/** Undefined when the post, video or photo is of the Page. */
type Check = Promise<Missing | Failure | undefined>;

/**
 * The id of a post contains the id of its Page. The owner of a video or a photo has to be read,
 * because Facebook shows comments on the media of other Pages too.
 */
async function checkMedia(graph: Caller, mediaId: string): Check {
  const { externalId } = graph.account;
  const [page, number] = mediaId.split("_");
  if (number !== undefined) return page === externalId ? undefined : MISSING;
  const query = { fields: "from" };
  const answer = await ask(graph, { path: encodeURIComponent(mediaId), query });
  if (answer.kind === "no_answer" || answer.status !== 200) return toReadFailure(answer, MEANINGS);
  return text(object(answer.json, "from"), "id") === externalId ? undefined : MISSING;
}

/** Comments on a post with one photo may belong to the photo. */
async function readPhotoId(
  graph: Caller,
  mediaId: string,
): Promise<{ readonly photoId: string | undefined } | Missing | Failure> {
  const query = { fields: "attachments{target}" };
  const answer = await ask(graph, { path: encodeURIComponent(mediaId), query });
  if (answer.kind === "no_answer" || answer.status !== 200) return toReadFailure(answer, MEANINGS);
  const [attachment] = list(object(answer.json, "attachments"), "data");
  return { photoId: text(object(attachment, "target"), "id") };
}

/**
 * Checks that a comment is on a post or a video of the Page. At Facebook, the id of a comment
 * begins with the number of a post, and its field `object` names what has the comment: the post, a
 * video or a photo. For a post with one photo, both may mean the photo.
 */
async function checkIsOnMedia(
  graph: Caller,
  { mediaId, commentId }: CommentRef,
  objectId: string | undefined,
): Check {
  const refusal = await checkMedia(graph, mediaId);
  if (refusal !== undefined) return refusal;
  const [parent = ""] = commentId.split("_");
  const parents = new Set([parent, numberOf(objectId ?? "")]);
  if (parents.has(numberOf(mediaId))) return undefined;
  if (!mediaId.includes("_")) return MISSING;
  const read = await readPhotoId(graph, mediaId);
  if ("kind" in read) return read;
  const { photoId } = read;
  return photoId !== undefined && parents.has(photoId) ? undefined : MISSING;
}

const FIELDS = "id,from,message,created_time,is_hidden,like_count,comment_count";
const UNREADABLE = platformUnavailable("Facebook's answer contains a comment that is unreadable");
const NEWEST_FIRST = { filter: "toplevel", order: "reverse_chronological" };

/** Undefined if it has no id or no readable time. */
function toComment(entry: unknown, { externalId }: AccountAccess): PlatformComment | undefined {
  const id = text(entry, "id");
  const createdAt = time(entry, "created_time");
  if (id === undefined || createdAt === undefined) return undefined;
  const from = object(entry, "from");
  return {
    id,
    text: text(entry, "message") ?? "",
    authorId: text(from, "id") ?? null,
    authorUsername: text(from, "name") ?? null,
    isOwn: text(from, "id") === externalId,
    createdAt,
    likeCount: count(entry, "like_count"),
    replyCount: count(entry, "comment_count"),
    hidden: (entry as { readonly is_hidden?: unknown }).is_hidden === true,
  };
}

export async function listComments(
  graph: Caller,
  { mediaId, limit, after }: CommentQuery,
): Promise<CommentPage | Missing | Failure> {
  const refusal = await checkMedia(graph, mediaId);
  if (refusal !== undefined) return refusal;
  const path = `${encodeURIComponent(mediaId)}/comments`;
  const query = { ...NEWEST_FIRST, fields: FIELDS };
  const read = await readGraphList(graph, { path, query, limit, after });
  if (read.kind !== "list") return toReadFailure(read, MEANINGS);
  const comments = read.entries.flatMap((entry) => toComment(entry, graph.account) ?? []);
  return { kind: "page", comments, next: read.next ?? undefined };
}

async function readComment(
  graph: Caller,
  ref: CommentRef,
): Promise<ReadComment | Missing | Failure> {
  const query = { fields: `${FIELDS},parent,object` };
  const answer = await ask(graph, { path: encodeURIComponent(ref.commentId), query });
  if (answer.kind === "no_answer" || answer.status !== 200) return toReadFailure(answer, MEANINGS);
  const { json } = answer;
  const comment = toComment(json, graph.account);
  if (comment === undefined) return UNREADABLE;
  if (object(json, "parent") !== undefined) return MISSING;
  const refusal = await checkIsOnMedia(graph, ref, text(object(json, "object"), "id"));
  return refusal ?? { kind: "comment", comment };
}

export function createFacebookCommentsConnector(api: GraphApi): CommentsConnector {
  return createGraphCommentsConnector({
    platform: "facebook",
    siteOf: (account) => toGraphSite(api, account),
    listComments,
    readComment,
    replies: "comments",
    replyFields: { ...NEWEST_FIRST, fields: "id,message,created_time,from" },
    // A reply without an author may be the Page's own, because Facebook shows authors only with a
    // further permission.
    toOwnReply: (entry, { externalId }) =>
      [undefined, externalId].includes(text(object(entry, "from"), "id"))
        ? {
            id: text(entry, "id") ?? "",
            text: text(entry, "message") ?? "",
            createdAt: Date.parse(text(entry, "created_time") ?? ""),
          }
        : undefined,
    hidden: "is_hidden",
    ownComment: "Facebook does not let a Page hide its own comments",
    own: MEANINGS,
  });
}
