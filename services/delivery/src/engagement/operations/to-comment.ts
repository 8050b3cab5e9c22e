import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { CommentSchema } from "@postrider/contracts/engagement/v1/comment_service_pb";
import type { PlatformComment } from "@postrider/platforms/comments/connector";

export function toComment(comment: PlatformComment): MessageInitShape<typeof CommentSchema> {
  const { id, text, authorId, authorUsername, createdAt, likeCount, replyCount, hidden } = comment;
  const author = {
    ...(authorId === null ? {} : { id: authorId }),
    ...(authorUsername === null ? {} : { username: authorUsername }),
  };
  return {
    id,
    text,
    ...(authorId === null && authorUsername === null ? {} : { author }),
    createdAt: timestampFromDate(createdAt),
    ...(likeCount === null ? {} : { likeCount: BigInt(likeCount) }),
    ...(replyCount === null ? {} : { replyCount: BigInt(replyCount) }),
    hidden: hidden ?? false,
  };
}
