import { PLATFORM_IDS } from "@postrider/platforms/platform-id";
import { newId } from "@postrider/shared/ids";
import { createLogger } from "@postrider/shared/telemetry/logger";
import { eventually } from "@postrider/shared/testing/poll";
import { expect, test } from "vitest";
import type { ClaimedTask } from "#src/publishing/domain/task.ts";
import { LeasedTasks } from "#src/publishing/jobs/claim-tasks/leased-tasks.ts";
import { openDatabase, readTask, request, startWorker, World } from "./fixture.ts";

/** Number of targets of one workspace that may be in work on one platform. */
const PER_PLATFORM = 32;

test("a process with many targets of one workspace still publishes the targets of another workspace", async () => {
  await using database = await openDatabase();
  const world = new World();
  const workspaceId = newId();
  const waiting = PLATFORM_IDS.flatMap((platform) =>
    Array.from({ length: PER_PLATFORM }, () => world.addTarget({ platform, workspaceId })),
  );
  const waits = new Set(waiting.map(({ targetId }) => targetId));
  const connector = world.connector();
  const slow: typeof connector = {
    ...connector,
    steps: ({ targetId }) => [
      {
        name: "wait",
        isDone: () => !waits.has(targetId),
        run: async (_publication, _handles, signal) => {
          const { promise, resolve } = Promise.withResolvers<void>();
          signal.addEventListener("abort", () => resolve());
          await promise;
          return {};
        },
      },
    ],
  };
  const connectors = Object.fromEntries(PLATFORM_IDS.map((platform) => [platform, slow]));
  await using _worker = startWorker(database, world, { connectors });
  await request(database.sql, ...waiting);
  await eventually(async () => {
    const [row] = await database.sql<{ count: number }[]>`
      select count(*)::int as count
      from publish_tasks
      where status = 'working'`;
    return (row?.count ?? 0) >= 150;
  });

  const target = world.addTarget({ platform: "telegram" });
  await request(database.sql, target);
  await eventually(async () => (await readTask(database.sql, target))?.status === "published");
  expect(waits.has(target.targetId)).toBe(false);
});

test("workspaces whose tasks never end leave places of a process for one more workspace", async () => {
  await using database = await openDatabase();
  await using leased = new LeasedTasks({
    sql: database.sql,
    leaseMs: 60_000,
    logger: createLogger({ service: "test", level: "silent" }),
    onEnd: () => {},
  });
  const workspaces = Array.from({ length: 5 }, () => newId());
  // As the worker claims: while it may, and as many as it may.
  for (const workspaceId of workspaces)
    while (!leased.busyWorkspaces.includes(workspaceId)) {
      const claimed = Math.min(50, leased.claimable);
      expect(claimed).toBeGreaterThan(0);
      for (let count = 0; count < claimed; count += 1) leased.lease({ workspaceId } as ClaimedTask);
    }
  expect(leased.claimable).toBeGreaterThan(0);
});
