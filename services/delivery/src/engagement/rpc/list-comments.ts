import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  ListCommentsRequest,
  ListCommentsResponseSchema,
} from "@postrider/contracts/engagement/v1/comment_service_pb";
import { encodeTextCursor, requireTextCursor } from "@postrider/shared/secrets/list-cursor";
import {
  FIRST_PAGE,
  formatState,
  parseState,
} from "#src/engagement/domain/merge-hidden-comments.ts";
import { listMediaComments } from "#src/engagement/operations/list-media-comments.ts";
import { getCommentedAccount, withReadDeadline } from "#src/engagement/operations/read-platform.ts";
import { toComment } from "#src/engagement/operations/to-comment.ts";
import type { CommentRpcDeps } from "./dependencies.ts";
import { parseMediaRef, parseLimit } from "./parse-comment-request.ts";

/** Reads a page of top-level comments on media of an account from its platform. */
export async function listComments(
  deps: CommentRpcDeps,
  request: ListCommentsRequest,
): Promise<MessageInitShape<typeof ListCommentsResponseSchema>> {
  const { workspaceId, accountId, mediaId } = parseMediaRef(request);
  const limit = parseLimit(request.limit);
  // The signature of the platform's cursor covers the media id, because some platforms accept a cursor although they
  // returned it for other media.
  const scope = ["comments", workspaceId, accountId, mediaId];
  const { cursorKeys, readTimeoutMs } = deps;
  const state =
    request.cursor === ""
      ? FIRST_PAGE
      : parseState(requireTextCursor(cursorKeys, scope, request.cursor));
  return await withReadDeadline(readTimeoutMs, async (signal) => {
    const commented = await getCommentedAccount(deps, { workspaceId, accountId });
    const page = await listMediaComments(deps, commented, { mediaId, limit, state }, signal);
    return {
      comments: page.comments.map(toComment),
      ...(page.next === undefined
        ? {}
        : { nextCursor: encodeTextCursor(cursorKeys, scope, formatState(page.next)) }),
    };
  });
}
