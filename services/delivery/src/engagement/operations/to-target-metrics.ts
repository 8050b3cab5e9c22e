import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { TargetMetricsSchema } from "@postrider/contracts/engagement/v1/metrics_service_pb";
import type { PostMetrics } from "@postrider/platforms/metrics/connector";

/** A metric that the platform does not report is absent. */
export function toTargetMetrics(
  metrics: PostMetrics,
  refreshedAt: Date,
): MessageInitShape<typeof TargetMetricsSchema> {
  const counters = Object.entries(metrics).filter(([, value]) => value !== null);
  return {
    ...Object.fromEntries(counters.map(([name, value]) => [name, BigInt(value)])),
    refreshedAt: timestampFromDate(refreshedAt),
  };
}
