import type { RefreshedTarget } from "@postrider/contracts/engagement/v1/metrics_service_pb";
import { toMetrics, type Metrics } from "#src/posts/mapping.ts";

interface TargetWithMetrics {
  readonly id: string;
  readonly metrics: Metrics | null;
}

/**
 * Returns a post whose targets have the newer of two metrics: those in the post, and those that the delivery service
 * has stored. The posts service learns of new metrics a moment later, by event.
 *
 * @param refreshed `targets` of the answer to RefreshMetrics.
 */
export function withMetrics<P extends { readonly targets: readonly TargetWithMetrics[] }>(
  post: P,
  refreshed: readonly RefreshedTarget[],
): Omit<P, "targets"> & { readonly targets: readonly P["targets"][number][] } {
  const stored = new Map(
    refreshed.map(({ targetId, metrics }) => [targetId, toMetrics(metrics)] as const),
  );
  const targets = post.targets.map((target: P["targets"][number]) => ({
    ...target,
    metrics: newerOf(target.metrics, stored.get(target.id) ?? null),
  }));
  return { ...post, targets };
}

function newerOf(shown: Metrics | null, stored: Metrics | null): Metrics | null {
  if (shown === null || stored === null) return shown ?? stored;
  return stored.refreshedAt > shown.refreshedAt ? stored : shown;
}
