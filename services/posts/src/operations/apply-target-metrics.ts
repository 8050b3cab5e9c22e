import { toJson } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import {
  type TargetMetrics,
  TargetMetricsSchema,
} from "@postrider/contracts/engagement/v1/metrics_service_pb";
import type { TransactionSql } from "@postrider/shared/postgres";
import { lockPosts, type PostRef, raiseVersions } from "#src/db/posts.ts";
import { type MetricsReport, updateTargetMetrics } from "#src/db/targets.ts";

interface ReportedMetrics extends PostRef {
  readonly targetId: string;
  readonly metrics?: TargetMetrics | undefined;
}

/**
 * Reports may arrive late, twice or in any order: the newest stays. Posts are locked first, in id
 * order. Reports about deleted posts are ignored.
 */
export async function applyTargetMetrics(
  tx: TransactionSql,
  updates: readonly ReportedMetrics[],
): Promise<void> {
  const posts = await lockPosts(tx, updates);
  if (posts.length === 0) return;
  await raiseVersions(tx, await updateTargetMetrics(tx, newestReports(updates)));
}

/** One update must not change the same row twice. */
function newestReports(updates: readonly ReportedMetrics[]): readonly MetricsReport[] {
  const newest = new Map<string, MetricsReport>();
  for (const report of updates.map(parseReport)) {
    const known = newest.get(report.targetId);
    if (known === undefined || known.refreshedAt < report.refreshedAt)
      newest.set(report.targetId, report);
  }
  return [...newest.values()];
}

function parseReport(update: ReportedMetrics): MetricsReport {
  const { workspaceId, postId, targetId, metrics } = update;
  if (metrics?.refreshedAt === undefined)
    throw new Error("the delivery service reported metrics without the time of the question");
  return {
    workspaceId,
    postId,
    targetId,
    metrics: toJson(TargetMetricsSchema, metrics),
    refreshedAt: timestampDate(metrics.refreshedAt),
  };
}
