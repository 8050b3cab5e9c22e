import { startLoop } from "@postrider/shared/process/loop";
import {
  IDLE_MS,
  MetricsRefresher,
  type RefreshMetricsDeps,
} from "#src/engagement/operations/metrics-refresher.ts";

/**
 * Refreshes the metrics of published posts that are due, in any number of processes, until it is disposed of. Disposing of it
 * aborts the open calls and records their outcomes.
 */
export function startRefreshMetrics(deps: RefreshMetricsDeps): AsyncDisposable {
  const refresher = new MetricsRefresher(deps);
  const loop = startLoop({
    idleMs: IDLE_MS,
    work: () => refresher.pass(),
    onError: (error) =>
      deps.logger.warn(
        { err: error, job: "refresh-metrics" },
        "metrics of published posts could not be refreshed; the job refresh-metrics tries again",
      ),
  });
  return {
    [Symbol.asyncDispose]: async () => {
      refresher.stop();
      await loop[Symbol.asyncDispose]();
      await refresher.end();
    },
  };
}
