import type { Logger } from "@postrider/shared/logger";
import { startLoop } from "@postrider/shared/loop";
import { PLATFORM_IDS } from "@postrider/shared/platforms/registry";
import type { Sql } from "@postrider/shared/postgres";
import { createAgeGauge, createGauge } from "@postrider/shared/telemetry";
import { countTasks } from "#src/db/task-counts.ts";

const EVERY_MS = 15_000;

const tasks = createGauge(
  "delivery_tasks",
  "Tasks of all processes that have not come to an end: due and waiting, in work, or with an unknown outcome.",
  ["platform", "state"],
);
const oldest = createAgeGauge(
  "delivery_oldest_due_seconds",
  "How long the longest waiting task has been due.",
  ["platform"],
);

async function count(sql: Sql): Promise<void> {
  const counts = new Map((await countTasks(sql)).map((each) => [each.platform, each]));
  for (const platform of PLATFORM_IDS) {
    const found = counts.get(platform);
    for (const state of ["due", "working", "unknown"] as const)
      tasks.set({ platform, state }, found?.[state] ?? 0);
    oldest.set({ platform }, found?.oldestDueAt ?? undefined);
  }
}

/** Counts what is under way until disposed of. Every process tells the same, because the tasks are everybody's. */
export function startCountTasks(sql: Sql, logger: Logger): AsyncDisposable {
  return startLoop({
    idleMs: EVERY_MS,
    work: async () => {
      await count(sql);
      return EVERY_MS;
    },
    onError: (error) => logger.debug({ err: error }, "tasks were not counted"),
  });
}
