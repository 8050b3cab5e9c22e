import { startLoop, type Loop } from "@postrider/shared/process/loop";
import { createAgeGauge, createGauge } from "@postrider/shared/telemetry/metrics";
import { countMetrics } from "#src/engagement/db/metrics-counts.ts";
import { toBucket } from "#src/engagement/domain/call-budget.ts";
import type { EngagementDeps } from "#src/engagement/operations/dependencies.ts";

const EVERY_MS = 60_000;

const due = createGauge(
  "target_metrics_due",
  "Published targets of all processes whose metrics are due for a scheduled refresh, by platform, up to 100,000.",
  ["platform"],
);
const oldest = createAgeGauge(
  "target_metrics_oldest_due_seconds",
  "How long the oldest scheduled refresh of metrics has been due, by platform.",
  ["platform"],
);
const budgetUsed = createGauge(
  "target_metrics_budget_used_ratio",
  "Part of the calls that the app, or the busiest account, may make at once and has made, by platform. At 1, scheduled refreshes wait for the budget.",
  ["platform"],
);
const limited = createGauge(
  "target_metrics_limited_accounts",
  "Accounts that are asked for no metrics because the platform answered with a rate limit, by platform; -1 if it limits all accounts together.",
  ["platform"],
);

type CountDeps = Pick<EngagementDeps, "sql" | "connectors">;

export async function measureMetrics({ sql, connectors }: CountDeps): Promise<void> {
  const byPlatform = new Map(
    Object.values(connectors.metrics).map((connector) => [connector.platform as string, connector]),
  );
  for (const counts of await countMetrics(sql, [...byPlatform.keys()])) {
    const { platform } = counts;
    const connector = byPlatform.get(platform);
    if (connector === undefined) continue;
    const { intervalMs, burst } = toBucket(connector);
    due.set({ platform }, counts.due);
    oldest.set({ platform }, counts.oldestDueAt ?? undefined);
    budgetUsed.set({ platform }, Math.min(1, counts.usedMs / (intervalMs * burst)));
    limited.set({ platform }, counts.isAppLimited ? -1 : counts.limitedAccounts);
  }
}

export function startCountMetrics(deps: CountDeps & Pick<EngagementDeps, "logger">): Loop {
  return startLoop({
    idleMs: EVERY_MS,
    work: async () => {
      await measureMetrics(deps);
      return EVERY_MS;
    },
    onError: (error) =>
      deps.logger.debug(
        { err: error },
        "the posts whose metrics are due for a refresh could not be counted; their gauges at /metrics keep the last values",
      ),
  });
}
