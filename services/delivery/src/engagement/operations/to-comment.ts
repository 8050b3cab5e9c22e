import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { CommentSchema, type Comment } from "@postrider/contracts/engagement/v1/comment_service_pb";
import type { PlatformComment } from "@postrider/platforms/comments/connector";

/** Returns a comment as other services see it. */
export function toComment(comment: PlatformComment): Comment {
  const { id, text, authorId, authorUsername, likeCount, replyCount, hidden } = comment;
  const hasAuthor = authorId !== null || authorUsername !== null;
  const author = {
    ...(authorId === null ? {} : { id: authorId }),
    ...(authorUsername === null ? {} : { username: authorUsername }),
  };
  return create(CommentSchema, {
    id,
    text,
    ...(hasAuthor ? { author } : {}),
    createdAt: timestampFromDate(comment.createdAt),
    ...(likeCount === null ? {} : { likeCount: BigInt(likeCount) }),
    ...(replyCount === null ? {} : { replyCount: BigInt(replyCount) }),
    hidden: hidden ?? false,
  });
}
