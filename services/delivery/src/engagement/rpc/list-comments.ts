import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  ListCommentsRequest,
  ListCommentsResponseSchema,
} from "@postrider/contracts/engagement/v1/comment_service_pb";
import { encodeTextCursor, requireTextCursor } from "@postrider/shared/secrets/text-cursor";
import {
  getCommentedAccount,
  readFromPlatform,
  withReadDeadline,
} from "#src/engagement/operations/read-platform.ts";
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
  // The platform's cursor is signed for these media, because some platforms accept it for the media of others.
  const scope = ["comments", workspaceId, accountId, mediaId];
  const { cursorKeys, readTimeoutMs } = deps;
  const after =
    request.cursor === "" ? undefined : requireTextCursor(cursorKeys, scope, request.cursor);
  return await withReadDeadline(readTimeoutMs, async (signal) => {
    const commented = await getCommentedAccount(deps, { workspaceId, accountId });
    const page = await readFromPlatform(deps, commented, (access) =>
      commented.connector.listComments(access, { mediaId, limit, after }, signal),
    );
    return {
      comments: page.comments.map(toComment),
      ...(page.next === undefined
        ? {}
        : { nextCursor: encodeTextCursor(cursorKeys, scope, page.next) }),
    };
  });
}
