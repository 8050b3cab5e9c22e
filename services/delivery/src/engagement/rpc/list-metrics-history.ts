import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  ListMetricsHistoryRequest,
  ListMetricsHistoryResponseSchema,
} from "@postrider/contracts/engagement/v1/metrics_service_pb";
import type { MetricsHistoryJson } from "@postrider/rest/dashboard/metrics";
import { assertIds, isId } from "@postrider/shared/ids";
import type { Sql } from "@postrider/shared/postgres";
import { listReadings } from "#src/engagement/db/metrics-readings.ts";

export async function listMetricsHistory(
  { sql }: { readonly sql: Sql },
  { workspaceId, targetIds }: ListMetricsHistoryRequest,
): Promise<MessageInitShape<typeof ListMetricsHistoryResponseSchema>> {
  assertIds(workspaceId);
  const rows = await listReadings(sql, workspaceId, targetIds.filter(isId));
  const history: MetricsHistoryJson = {
    targets: rows.map(({ points, nextReadAt, ...target }) => ({
      ...target,
      nextReadAt: nextReadAt?.toISOString() ?? null,
      points: points.map((point) => ({ ...point, at: new Date(point.at).toISOString() })),
    })),
  };
  return { json: JSON.stringify(history) };
}
