import type {
  CommentPage,
  CommentQuery,
  Missing,
  PlatformComment,
} from "#src/comments/connector.ts";
import { readGraphList } from "#src/graph-api/graph-list.ts";
import type { GraphApi } from "#src/graph-api/graph-request.ts";
import { toReadFailure } from "#src/graph-api/read-failure.ts";
import { readNodes } from "#src/graph-api/read-nodes.ts";
import { MEANINGS } from "#src/instagram/publishing/error-meanings.ts";
import { type Failure, platformUnavailable } from "#src/publishing/outcome.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";
import { FIELDS, isTopLevelOn, SINGLE_FIELDS, toComment, UNREADABLE } from "./read-comments.ts";

/** Maximum number of hidden comments that are read for a page. */
const MAX_HIDDEN = 50;

/** Where a page begins: Instagram's cursor, and the time of the oldest comment on the previous page. */
interface Position {
  readonly cursor: string | undefined;
  readonly until: number;
}

function parsePosition(after: string | undefined): Position {
  const [, until, cursor] = /^(\d+):(.+)$/s.exec(after ?? "") ?? [];
  return cursor === undefined
    ? { cursor: after, until: Number.POSITIVE_INFINITY }
    : { cursor, until: Number(until) };
}

async function readPage(
  api: GraphApi,
  account: AccountAccess,
  { mediaId, limit, after }: CommentQuery,
  signal: AbortSignal,
): Promise<CommentPage | Missing | Failure> {
  const path = `${encodeURIComponent(mediaId)}/comments`;
  const call = { path, query: { fields: FIELDS }, limit, after };
  const read = await readGraphList(api, account, call, signal);
  if (read.kind !== "list") return toReadFailure(read, MEANINGS);
  const comments = read.entries.map(toComment);
  return comments.every((comment) => comment !== undefined)
    ? { kind: "page", comments, next: read.next }
    : UNREADABLE;
}

interface HiddenComments {
  readonly kind: "hidden";
  /** Newest first. */
  readonly comments: readonly PlatformComment[];
}

/** Reads those of the given comments that are still hidden. */
async function readHidden(
  api: GraphApi,
  account: AccountAccess,
  { mediaId, hiddenIds = [] }: CommentQuery,
  signal: AbortSignal,
): Promise<HiddenComments | Failure> {
  if (hiddenIds.length === 0) return { kind: "hidden", comments: [] };
  const query = { ids: hiddenIds.slice(0, MAX_HIDDEN), fields: SINGLE_FIELDS, own: MEANINGS };
  const read = await readNodes(api, account, query, signal);
  if (read.kind === "no_answer") return platformUnavailable(read.message);
  if (read.kind !== "nodes") return read;
  const comments = [...read.nodes.values()].flatMap((reading) => {
    if (reading.kind !== "node" || !isTopLevelOn(reading.node, mediaId)) return [];
    const comment = toComment(reading.node);
    return comment?.hidden === true ? [comment] : [];
  });
  return { kind: "hidden", comments: comments.toSorted(newestFirst) };
}

function newestFirst(one: PlatformComment, other: PlatformComment): number {
  return other.createdAt.getTime() - one.createdAt.getTime();
}

/**
 * Lists the comments on an Instagram post. Instagram refuses media of other accounts. It leaves hidden comments out of
 * the list, so those that are known to be hidden are read by their ids and added where they belong: each page has the
 * hidden comments between the oldest comment of the previous page and its own oldest one.
 */
export async function listComments(
  api: GraphApi,
  account: AccountAccess,
  query: CommentQuery,
  signal: AbortSignal,
): Promise<CommentPage | Missing | Failure> {
  const { cursor, until } = parsePosition(query.after);
  const hidden = await readHidden(api, account, query, signal);
  if (hidden.kind !== "hidden") return hidden;
  const earlier = hidden.comments
    .filter(({ createdAt }) => createdAt.getTime() <= until)
    .slice(0, query.limit - 1);
  const limit = query.limit - earlier.length;
  const page = await readPage(api, account, { ...query, limit, after: cursor }, signal);
  if (page.kind !== "page") return page;
  const { comments, next } = page;
  const oldest = comments.at(-1)?.createdAt.getTime() ?? until;
  const added = earlier.filter(
    ({ id, createdAt }) =>
      (next === undefined || createdAt.getTime() > oldest) &&
      !comments.some((one) => one.id === id),
  );
  return {
    kind: "page",
    comments: [...comments, ...added].toSorted(newestFirst),
    next: next === undefined || !Number.isFinite(oldest) ? next : `${oldest}:${next}`,
  };
}
