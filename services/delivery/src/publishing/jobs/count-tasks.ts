import { PLATFORM_IDS } from "@postrider/platforms/platform-id";
import type { Sql } from "@postrider/shared/postgres";
import { startLoop } from "@postrider/shared/process/loop";
import type { Logger } from "@postrider/shared/telemetry/logger";
import { createAgeGauge, createGauge } from "@postrider/shared/telemetry/metrics";
import { listHeldPlatforms } from "#src/publishing/db/platform-breakers.ts";
import { countTasks, TASK_STATES } from "#src/publishing/db/task-counts.ts";

const EVERY_MS = 15_000;

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

/**
 * Counts the unfinished publish tasks of all processes for the metrics until it is disposed of.
 * Every process reports the same numbers.
 */
export function startCountTasks(sql: Sql, logger: Logger): AsyncDisposable {
  return startLoop({
    idleMs: EVERY_MS,
    work: async () => {
      await count(sql);
      return EVERY_MS;
    },
    onError: (error) =>
      logger.debug(
        { err: error },
        "unfinished publishing tasks could not be counted; their gauges at /metrics keep the last values",
      ),
  });
}
