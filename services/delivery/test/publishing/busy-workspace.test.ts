import { PLATFORM_IDS } from "@postrider/platforms/platform-id";
import { newId } from "@postrider/shared/ids";
import { eventually } from "@postrider/shared/testing/poll";
import { expect, test } from "vitest";
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
    return (row?.count ?? 0) >= 200;
  });

  const target = world.addTarget({ platform: "telegram" });
  await request(database.sql, target);
  await eventually(async () => (await readTask(database.sql, target))?.status === "published");
  expect(waits.has(target.targetId)).toBe(false);
});
