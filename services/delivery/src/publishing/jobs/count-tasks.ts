import { PLATFORM_IDS } from "@postrider/platforms/platform-id";
import type { Sql } from "@postrider/shared/postgres";
import type { Logger } from "@postrider/shared/telemetry/logger";
import { createAgeGauge, createGauge } from "@postrider/shared/telemetry/metrics";
import { startCount } from "#src/operations/start-count.ts";
import { listHeldPlatforms } from "#src/publishing/db/platform-breakers.ts";
import { countTasks, TASK_STATES } from "#src/publishing/db/task-counts.ts";

const tasks = createGauge(
  "delivery_tasks",
  "Open tasks of all processes by state: due, paused, held with their platform, gated by their account, working, or with an unknown outcome.",
  ["platform", "state"],
);
const held = createGauge(
  "delivery_platform_held",
  "1 while publishing calls to the platform are held, because it left the latest ones without an answer.",
  ["platform"],
);
const oldest = createAgeGauge(
  "delivery_oldest_due_seconds",
  "How long the oldest claimable task has been due.",
  ["platform"],
);

async function count(sql: Sql): Promise<void> {
  const [counts, heldPlatforms] = await Promise.all([countTasks(sql), listHeldPlatforms(sql)]);
  for (const platform of PLATFORM_IDS) {
    held.set({ platform }, heldPlatforms.includes(platform) ? 1 : 0);
    const found = new Map(
      counts.filter((each) => each.platform === platform).map((each) => [each.state, each]),
    );
    for (const state of TASK_STATES) tasks.set({ platform, state }, found.get(state)?.count ?? 0);
    oldest.set({ platform }, found.get("due")?.claimableSince ?? undefined);
  }
}

export function startCountTasks(sql: Sql, logger: Logger): AsyncDisposable {
  return startCount({ logger, what: "unfinished publishing tasks", measure: () => count(sql) });
}
