import type { Comment } from "@postrider/contracts/engagement/v1/comment_service_pb";
import { toCommentAuthor } from "@postrider/rest/comments/mapping";
import { toOptionalInstant } from "@postrider/rest/timestamps";

function toCount(count: bigint | undefined): number | null {
  return count === undefined ? null : Number(count);
}

/** A number that the platform does not give is null. */
export function toComment(comment: Comment) {
  const { id, text, author, hidden } = comment;
  return {
    id,
    text,
    author: toCommentAuthor(author),
    createdAt: toOptionalInstant(comment.createdAt),
    likeCount: toCount(comment.likeCount),
    replyCount: toCount(comment.replyCount),
    hidden,
  };
}
