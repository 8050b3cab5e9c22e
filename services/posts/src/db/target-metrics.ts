import type { JsonValue } from "@bufbuild/protobuf";
import type { TransactionSql } from "@postrider/shared/postgres";
import type { PostRef } from "#src/db/posts.ts";

/** The metrics of a published target that the delivery service read on the platform. */
export interface MetricsReport extends PostRef {
  readonly targetId: string;
  /** The metrics of the target as proto JSON of the message TargetMetrics. */
  readonly metrics: JsonValue;
  readonly refreshedAt: Date;
}

/**
 * Stores the metrics of those targets whose stored metrics are older, and returns the posts of these targets. A report whose
 * workspace, post and target do not belong together changes nothing. Each target may occur only once in a call.
 */
export async function updateTargetMetrics(
  tx: TransactionSql,
  reports: readonly MetricsReport[],
): Promise<readonly PostRef[]> {
  const rows = reports.map((report) => ({
    id: report.targetId,
    workspace_id: report.workspaceId,
    post_id: report.postId,
    metrics: report.metrics,
    refreshed_at: report.refreshedAt.toISOString(),
  }));
  const changed = await tx<{ workspaceId: string; postId: string }[]>`
    update targets as target
    set metrics = report.metrics,
      metrics_refreshed_at = report.refreshed_at
    from jsonb_to_recordset(${tx.json(rows)})
      as report (id uuid, workspace_id uuid, post_id uuid, metrics jsonb, refreshed_at timestamptz)
    where target.id = report.id
    and target.workspace_id = report.workspace_id
    and target.post_id = report.post_id
    and (target.metrics_refreshed_at is null or target.metrics_refreshed_at < report.refreshed_at)
    returning target.workspace_id, target.post_id`;
  return [...new Map(changed.map((post) => [post.postId, post])).values()];
}
