import type {
  CommentAction,
  CommentAuthor,
} from "@postrider/contracts/engagement/v1/comment_service_pb";
import type { Locale } from "#src/locale.ts";
import { toTargetError } from "#src/posts/mapping.ts";
import { toOptionalInstant } from "#src/timestamps.ts";

export function toCommentAuthor(author: CommentAuthor | undefined) {
  return { id: author?.id ?? null, username: author?.username ?? null };
}

/**
 * Converts an action on a comment to the form of the API. The message of its error is that of the
 * platform or, if it sent none, our text for the error code.
 */
export function toCommentAction(action: CommentAction, locale: Locale) {
  const { id, accountId, mediaId, commentId, type, status } = action;
  return {
    id,
    accountId,
    mediaId,
    commentId,
    type,
    text: action.text ?? null,
    status,
    error: toTargetError(action.error, { work: "comment action", status }, locale),
    createdAt: toOptionalInstant(action.createdAt),
    finishedAt: toOptionalInstant(action.finishedAt),
  };
}
