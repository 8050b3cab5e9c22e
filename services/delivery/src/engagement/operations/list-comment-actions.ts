import { create } from "@bufbuild/protobuf";
import {
  CommentActionSchema,
  type CommentAction,
} from "@postrider/contracts/engagement/v1/comment_service_pb";
import type { ISql } from "@postrider/shared/postgres";
import { listManualActions } from "#src/engagement/db/comment-actions.ts";
import { toCommentAction } from "./to-comment-action.ts";

/** A reference with the id of another workspace finds no action. */
export async function listCommentActions(
  sql: ISql,
  refs: readonly { readonly workspaceId: string; readonly id: string }[],
): Promise<readonly CommentAction[]> {
  const actions = await listManualActions(sql, refs);
  return actions.map((action) => create(CommentActionSchema, toCommentAction(action)));
}
