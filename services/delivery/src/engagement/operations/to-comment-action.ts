import { create, type MessageInitShape, type MessageShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { CommentActionSchema } from "@postrider/contracts/engagement/v1/comment_service_pb";
import type { ISql } from "@postrider/shared/postgres";
import { isFinal } from "#src/calls/call.ts";
import { isRetryable } from "#src/domain/retry-wait.ts";
import { listManualActions } from "#src/engagement/db/comment-actions.ts";
import type { CommentAction } from "#src/engagement/domain/comment-action.ts";

/** The fields of an action from which its proto message is built. */
export type ShownAction = Pick<
  CommentAction,
  | "id"
  | "workspaceId"
  | "accountId"
  | "mediaId"
  | "commentId"
  | "type"
  | "text"
  | "status"
  | "errorCode"
  | "errorMessage"
  | "version"
  | "createdAt"
  | "finishedAt"
>;

/** Builds the proto message of a manual action. Only a failed action has an error in it. */
export function toCommentAction(action: ShownAction): MessageInitShape<typeof CommentActionSchema> {
  const { id, workspaceId, accountId, mediaId, commentId, type, text, status } = action;
  return {
    id,
    workspaceId,
    accountId,
    mediaId,
    commentId,
    type,
    ...(text === null ? {} : { text }),
    status: isFinal(status) ? status : "pending",
    ...(status === "failed" ? { error: toError(action) } : {}),
    createdAt: timestampFromDate(action.createdAt),
    ...(action.finishedAt === null ? {} : { finishedAt: timestampFromDate(action.finishedAt) }),
    version: BigInt(action.version),
  };
}

/** A reference with the id of another workspace finds no action. */
export async function listCommentActions(
  sql: ISql,
  refs: readonly { readonly workspaceId: string; readonly id: string }[],
): Promise<readonly MessageShape<typeof CommentActionSchema>[]> {
  const actions = await listManualActions(sql, refs);
  return actions.map((action) => create(CommentActionSchema, toCommentAction(action)));
}

function toError({ errorCode, errorMessage }: ShownAction) {
  const code = errorCode ?? "internal_error";
  return { code, message: errorMessage ?? "", retryable: isRetryable(code) };
}
