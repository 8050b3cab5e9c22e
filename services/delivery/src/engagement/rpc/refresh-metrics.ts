import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  RefreshMetricsRequest,
  RefreshMetricsResponseSchema,
} from "@postrider/contracts/engagement/v1/metrics_service_pb";
import { invalidRequest } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import {
  insertPublishedTargets,
  listTargetMetrics,
  type StoredMetrics,
  type TargetsOfPost,
} from "#src/engagement/db/target-metrics.ts";
import { METRICS_END_MS } from "#src/engagement/domain/metrics-schedule.ts";
import { countRefreshes } from "#src/engagement/domain/refresh-outcome.ts";
import { toTargetMetrics } from "#src/engagement/operations/to-target-metrics.ts";
import type { MetricsRpcDeps } from "./dependencies.ts";

const MAX_TARGETS = 100;

/** Leaves out targets of other posts, unpublished ones, and platforms without metrics. */
export async function refreshMetrics(
  deps: MetricsRpcDeps,
  request: RefreshMetricsRequest,
): Promise<MessageInitShape<typeof RefreshMetricsResponseSchema>> {
  const targets = parseRequest(deps, request);
  const eligible = await listOrInsert(deps, targets);
  const counted = await deps.byHand.refresh(targets);
  const stored = await listTargetMetrics(deps.sql, targets);
  return {
    ...countRefreshes(eligible.map(({ targetId }) => counted.get(targetId) ?? "deferred")),
    targets: stored.flatMap(({ targetId, metrics, refreshedAt }) =>
      refreshedAt === null ? [] : [{ targetId, metrics: toTargetMetrics(metrics, refreshedAt) }],
    ),
  };
}

function parseRequest(
  { connectors }: MetricsRpcDeps,
  { workspaceId, postId, targetIds }: RefreshMetricsRequest,
): TargetsOfPost {
  const violations = [
    ...(targetIds.length > MAX_TARGETS ? [{ code: "too_many", path: "/targetIds" }] : []),
    ...([workspaceId, postId, ...targetIds].every(isId) ? [] : [{ code: "invalid_id" }]),
  ];
  if (violations.length > 0) throw invalidRequest(violations);
  const platforms = Object.keys(connectors.metrics);
  return { workspaceId, postId, targetIds: [...new Set(targetIds)], platforms };
}

/** Inserts a row for a target about which no event has arrived yet. */
async function listOrInsert(
  { sql }: MetricsRpcDeps,
  targets: TargetsOfPost,
): Promise<readonly StoredMetrics[]> {
  const known = await listTargetMetrics(sql, targets);
  if (known.length === targets.targetIds.length) return known;
  await sql.begin((tx) => insertPublishedTargets(tx, { ...targets, endMs: METRICS_END_MS }));
  return await listTargetMetrics(sql, targets);
}
