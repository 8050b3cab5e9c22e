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
import { FIELDS, isTopLevelOn, SINGLE_FIELDS, toComment } from "./read-comments.ts";

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

export async function readComments(
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
