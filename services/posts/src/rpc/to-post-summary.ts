import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { PostSchema, TargetSchema } from "@postrider/contracts/posts/v1/post_pb";
import type { PostSummaryRow, TargetSummaryJson } from "#src/db/post-summaries.ts";
import { shownTargetStatus, type PostStatus } from "#src/domain/post-status.ts";
import { instant, text } from "#src/rpc/to-post.ts";

function toTarget(
  post: PostStatus,
  { accountId, platform, status, permalink, errorCode }: TargetSummaryJson,
): MessageInitShape<typeof TargetSchema> {
  return {
    accountId,
    platform,
    status: shownTargetStatus(post, status),
    ...text("permalink", permalink),
    ...(errorCode === null ? {} : { error: { code: errorCode } }),
  };
}

/**
 * Converts a post of a list to the message that ListPosts returns, in which the fields that a list does not show are
 * absent.
 */
export function toPostSummary(row: PostSummaryRow): MessageInitShape<typeof PostSchema> {
  return {
    id: row.id,
    workspaceId: row.workspaceId,
    status: row.status,
    content: row.content,
    mediaIds: [...row.mediaIds],
    createdVia: row.createdVia,
    createdAt: timestampFromDate(row.createdAt),
    updatedAt: timestampFromDate(row.updatedAt),
    targets: row.targets.map((target) => toTarget(row.status, target)),
    ...instant("scheduledAt", row.scheduledAt),
    ...instant("startedAt", row.startedAt),
    ...instant("publishedAt", row.publishedAt),
  };
}
