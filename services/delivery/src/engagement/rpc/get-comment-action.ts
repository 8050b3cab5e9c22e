import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  GetCommentActionRequest,
  GetCommentActionResponseSchema,
} from "@postrider/contracts/engagement/v1/comment_service_pb";
import { notFound } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import { findManualAction } from "#src/engagement/db/comment-actions.ts";
import { toCommentAction } from "#src/engagement/operations/to-comment-action.ts";
import type { CommentRpcDeps } from "./dependencies.ts";

/** Returns a manual action, even if its account has been disconnected since. */
export async function getCommentAction(
  { sql }: Pick<CommentRpcDeps, "sql">,
  { workspaceId, actionId }: GetCommentActionRequest,
): Promise<MessageInitShape<typeof GetCommentActionResponseSchema>> {
  if (!isId(workspaceId) || !isId(actionId)) throw notFound();
  const action = await findManualAction(sql, { workspaceId, id: actionId });
  if (action === undefined) throw notFound();
  return { action: toCommentAction(action) };
}
