import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ConnectRouter } from "@connectrpc/connect";
import {
  CommentService,
  type GetCommentActionRequest,
  type GetCommentActionResponseSchema,
  type ListCommentsRequest,
  type ListCommentsResponseSchema,
} from "@postrider/contracts/engagement/v1/comment_service_pb";
import type { PlatformComment } from "@postrider/platforms/comments/connector";
import { serveMethods } from "@postrider/shared/connect/methods";
import { notFound } from "@postrider/shared/errors";
import { assertIds } from "@postrider/shared/ids";
import type { Sql } from "@postrider/shared/postgres";
import { encodeTextCursor, requireTextCursor } from "@postrider/shared/secrets/list-cursor";
import { findManualAction } from "#src/engagement/db/comment-actions.ts";
import { findHiddenComments, listHiddenComments } from "#src/engagement/db/hidden-comments.ts";
import {
  type CommentPosition,
  FIRST_PAGE,
  formatState,
  type ListState,
  mergeHiddenComments,
  parseState,
  rangeOfHidden,
  selectVisible,
} from "#src/engagement/domain/merge-hidden-comments.ts";
import { tryKeepComments } from "#src/engagement/operations/inbox.ts";
import {
  type CommentedAccount,
  getCommentedAccount,
  readCommentPage,
  type ReadDeps,
  readFromPlatform,
  toComment,
  withReadDeadline,
} from "#src/engagement/operations/read-platform.ts";
import { toCommentAction } from "#src/engagement/operations/to-comment-action.ts";
import type { CommentRpcDeps } from "../operations/dependencies.ts";
import { parseLimit, parseMediaRef } from "./parse-comment-request.ts";
import { requestCommentAction } from "./request-comment-action.ts";

export function createCommentRoutes(deps: CommentRpcDeps): (router: ConnectRouter) => void {
  return (router) => {
    serveMethods(router, deps, CommentService, {
      listComments,
      requestCommentAction,
      getCommentAction,
    });
  };
}

/** Also finds an action whose account has been disconnected since. */
async function getCommentAction(
  { sql }: Pick<CommentRpcDeps, "sql">,
  { workspaceId, actionId }: GetCommentActionRequest,
): Promise<MessageInitShape<typeof GetCommentActionResponseSchema>> {
  assertIds(workspaceId, actionId);
  const action = await findManualAction(sql, { workspaceId, id: actionId });
  if (action === undefined) throw notFound();
  return { action: toCommentAction(action) };
}

async function listComments(
  deps: CommentRpcDeps,
  request: ListCommentsRequest,
): Promise<MessageInitShape<typeof ListCommentsResponseSchema>> {
  const { workspaceId, accountId, mediaId } = parseMediaRef(request);
  const limit = parseLimit(request.limit);
  // The signature of the platform's cursor covers the media id, because some platforms accept a
  // cursor although they returned it for other media.
  const scope = ["comments", workspaceId, accountId, mediaId];
  const { cursorKeys, readTimeoutMs } = deps;
  const state =
    request.cursor === ""
      ? FIRST_PAGE
      : parseState(requireTextCursor(cursorKeys, scope, request.cursor));
  return await withReadDeadline(readTimeoutMs, async (signal) => {
    const commented = await getCommentedAccount(deps, { workspaceId, accountId });
    const page = await listMediaComments(deps, commented, { mediaId, limit, state }, signal);
    const { platform } = commented.account;
    await tryKeepComments(deps, { workspaceId, accountId, platform, mediaId }, page.comments);
    return {
      comments: page.comments.map(toComment),
      ...(page.next === undefined
        ? {}
        : { nextCursor: encodeTextCursor(cursorKeys, scope, formatState(page.next)) }),
    };
  });
}

interface Query {
  readonly mediaId: string;
  readonly limit: number;
  readonly state: ListState;
}

interface Page {
  readonly comments: readonly PlatformComment[];
  /** Undefined on the last page. */
  readonly next: ListState | undefined;
}

const NONE = { kind: "comments", comments: [] } as const;

/**
 * Reads a page of top-level comments, hidden ones included. If the platform leaves hidden comments
 * out of its list or does not say which are hidden, only those that Postrider hid are known to be
 * hidden.
 */
async function listMediaComments(
  deps: ReadDeps,
  commented: CommentedAccount,
  query: Query,
  signal: AbortSignal,
): Promise<Page> {
  const { connector } = commented;
  const { mediaId, limit, state } = query;
  const asked = { mediaId, limit, after: state.after };
  const page = await readCommentPage(deps, commented, asked, signal);
  if (connector.readComments === undefined)
    return {
      comments: await withOwnKnowledge(deps.sql, commented, mediaId, page.comments),
      next: page.next === undefined ? undefined : { ...state, after: page.next },
    };
  const media = { ...commented.ref, mediaId };
  const hidden = await listHiddenComments(deps.sql, media, {
    range: rangeOfHidden(page, state),
    limit: limit + 1,
  });
  const visible = selectVisible(page, state);
  const merged = mergeHiddenComments(visible, hidden, { next: page.next, state, limit });
  const comments = await readAll(deps, commented, { mediaId, found: merged.comments }, signal);
  return { comments, next: merged.next };
}

/** For a platform that does not say which comments are hidden. */
async function withOwnKnowledge(
  sql: Sql,
  { ref }: CommentedAccount,
  mediaId: string,
  comments: readonly PlatformComment[],
): Promise<readonly PlatformComment[]> {
  const unsaid = comments.filter(({ hidden }) => hidden === null).map(({ id }) => id);
  if (unsaid.length === 0) return comments;
  const hidden = await findHiddenComments(sql, { ...ref, mediaId }, unsaid);
  return comments.map((comment) => ({
    ...comment,
    hidden: comment.hidden ?? hidden.has(comment.id),
  }));
}

/** A comment that no longer exists is left out. */
async function readAll(
  deps: ReadDeps,
  commented: CommentedAccount,
  { mediaId, found }: { mediaId: string; found: readonly (PlatformComment | CommentPosition)[] },
  signal: AbortSignal,
): Promise<readonly PlatformComment[]> {
  const commentIds = found.filter((comment) => !("text" in comment)).map(({ id }) => id);
  const { connector } = commented;
  const { comments } =
    commentIds.length === 0
      ? { comments: [] }
      : await readFromPlatform(
          deps,
          commented,
          connector.costs?.read,
          async (access) =>
            (await connector.readComments?.(access, { mediaId, commentIds }, signal)) ?? NONE,
        );
  const read = new Map(comments.map((comment) => [comment.id, comment]));
  return found
    .map((comment) => ("text" in comment ? comment : read.get(comment.id)))
    .filter((comment) => comment !== undefined);
}
