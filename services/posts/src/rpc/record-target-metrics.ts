import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  RecordTargetMetricsRequest,
  RecordTargetMetricsResponseSchema,
} from "@postrider/contracts/posts/v1/post_service_pb";
import { notFound } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import { findPost } from "#src/db/posts.ts";
import { applyTargetMetrics } from "#src/operations/apply-target-metrics.ts";
import type { PostsDeps } from "#src/operations/dependencies.ts";
import { toLocale, toPost } from "#src/rpc/to-post.ts";

/** A client that requested metrics finds them in the post at once. */
export async function recordTargetMetrics(
  { sql }: Pick<PostsDeps, "sql">,
  { workspaceId, postId, targets, locale }: RecordTargetMetricsRequest,
): Promise<MessageInitShape<typeof RecordTargetMetricsResponseSchema>> {
  if (![workspaceId, postId, ...targets.map(({ targetId }) => targetId)].every(isId))
    throw notFound();
  const reports = targets.map(({ targetId, metrics }) => ({
    workspaceId,
    postId,
    targetId,
    metrics,
  }));
  const row = await sql.begin(async (tx) => {
    await applyTargetMetrics(tx, reports);
    return await findPost(tx, workspaceId, postId);
  });
  if (row === undefined) throw notFound();
  return { post: toPost(row, toLocale(locale)) };
}
