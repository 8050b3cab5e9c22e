import { randomUUID } from "node:crypto";
import { createBatchHandler } from "@postrider/shared/bus/consumer";
import { eventually } from "@postrider/shared/testing/poll";
import { expect, test } from "vitest";
import { PUBLISHING_HANDLERS } from "#src/publishing/consumers/index.ts";
import {
  consume,
  logger,
  openDatabase,
  readTask,
  request,
  startWorker,
  toRecord,
  World,
  untilStatus,
} from "./fixture.ts";

test("consuming all events of a topic a second time causes no platform call", async () => {
  await using database = await openDatabase();
  const world = new World();
  const postId = randomUUID();
  const targets = Array.from({ length: 20 }, () => world.addTarget({ postId }));
  const records = [toRecord(targets), ...targets.map((target) => toRecord([target]))];
  await using worker = startWorker(database, world);
  await consume(database.sql, records);
  await eventually(() => world.visible.length === 20);

  await consume(database.sql, records);
  await consume(database.sql, records.toReversed());
  const fresh = world.addTarget();
  await request(database.sql, fresh);
  worker.claims.nudge();

  // Publish requests are handled in order, and the last one is published. So the repeated requests
  // before it were handled.
  await untilStatus(database.sql, fresh, "published");
  expect(world.calls).toHaveLength(21);
});

test("when the publish request of a dropped task is repeated, the posts service is asked again whether the target is still to be published", async () => {
  await using database = await openDatabase();
  const world = new World();
  const target = world.addTarget({ wanted: false });
  await using _worker = startWorker(database, world);
  await request(database.sql, target);
  await untilStatus(database.sql, target, "dropped");

  await request(database.sql, target);
  await eventually(async () => {
    const { status, fence } = await readTask(database.sql, target);
    return status === "dropped" && fence === 2;
  });
  expect(world.calls).toEqual([]);

  target.wanted = true;
  await request(database.sql, target);
  await untilStatus(database.sql, target, "published");
});

test("when two publish requests of a target arrive in any order, only the newer one is published", async () => {
  await using database = await openDatabase();
  const world = new World();
  const target = world.addTarget();
  const older = toRecord([target]);
  target.generation = 2;
  const newer = toRecord([target]);
  await using _worker = startWorker(database, world);

  await consume(database.sql, [newer, older, newer]);

  await eventually(async () => (await readTask(database.sql, target, 2)).status === "published");
  await eventually(async () => (await readTask(database.sql, target, 1)).status === "dropped");
  expect(world.calls).toHaveLength(1);
});

test("a publish request of the topic for a backlog is published once, also when the sweep repeats it in the other topic", async () => {
  await using database = await openDatabase();
  const world = new World();
  const [target, last] = [world.addTarget(), world.addTarget()];
  const repeated = toRecord([target]);
  const type = "postrider.backlog.v1.PostPublishRequested";
  const record = { ...repeated, headers: { ...repeated.headers, ce_type: type } };
  const topic = "backlog.events.v1";
  const handle = createBatchHandler({ topic, handlers: PUBLISHING_HANDLERS[topic], logger });
  await using _worker = startWorker(database, world);

  await database.sql.begin((tx) => handle(tx, [record]));
  await consume(database.sql, [repeated]);
  await untilStatus(database.sql, target, "published");
  await consume(database.sql, [repeated, toRecord([last])]);

  await untilStatus(database.sql, last, "published");
  expect(world.calls).toHaveLength(2);
});

test("a publish request that cannot be handled becomes a parked event, and the other publish requests that arrived with it are queued", async () => {
  await using database = await openDatabase();
  const world = new World();
  const good = world.addTarget();
  const bad = toRecord([world.addTarget({ accountId: "no-uuid" })]);
  const handle = createBatchHandler({
    topic: "posts.events.v1",
    handlers: PUBLISHING_HANDLERS["posts.events.v1"],
    logger,
    maxTries: 1,
  });

  const records = [bad, toRecord([good])];
  const tryBatch = () => database.sql.begin((tx) => handle(tx, records));
  await expect(tryBatch()).rejects.toThrow("a batch failed and will be halved");

  await tryBatch();

  expect((await readTask(database.sql, good)).status).toBe("queued");
  expect(await database.sql`select direction from parked_events`).toMatchObject([
    { direction: "in" },
  ]);
});
