import { startLoop, type Loop } from "@postrider/shared/process/loop";
import { thinHistories } from "#src/engagement/db/metrics-history.ts";
import type { EngagementDeps } from "#src/engagement/operations/dependencies.ts";

const EVERY_MS = 60_000;
const PAGE_TARGETS = 200;

export function startThinMetricsHistory({
  sql,
  logger,
}: Pick<EngagementDeps, "sql" | "logger">): Loop {
  return startLoop({
    idleMs: EVERY_MS,
    work: async () => (await thinHistories(sql, PAGE_TARGETS)) === PAGE_TARGETS,
    onError: (error) =>
      logger.warn(
        { err: error, job: "thin-metrics-history" },
        "old rows of the history of metrics could not be deleted; the job thin-metrics-history tries again",
      ),
  });
}
