import { expect, test } from "vitest";
import {
  lastUpdate,
  listAttempts,
  readTask,
  request,
  startWorker,
  untilStatus,
  openStage,
} from "./fixture.ts";

const PAST = () => new Date(Date.now() - 1_000);

test("a target on a platform that this version does not support fails as missed when it is too late to publish it, and is not sent", async () => {
  await using database = await openStage();
  const { sql, world } = database;
  const late = world.addTarget({ platform: "telegram", publishBefore: PAST() });
  const inTime = world.addTarget({ platform: "telegram" });
  await request(sql, late, inTime);
  await using _worker = startWorker(database, world);

  await untilStatus(sql, late, "failed");
  expect(await lastUpdate(sql, late)).toMatchObject({
    status: "failed",
    errorCode: "missed",
    errorMessage: "the installed version of Postrider does not support the platform",
  });
  expect(await readTask(sql, inTime)).toMatchObject({ status: "queued", attemptNumber: 0 });
  expect(world.contentRequests).toBe(0);
  expect(await listAttempts(sql, late)).toEqual([]);
});

test("a target with an unknown outcome on an unsupported platform ends as outcome_unknown an hour after its publishing deadline", async () => {
  await using database = await openStage();
  const { sql, world } = database;
  world.reactions = [1, 2, 3].map(() => () => ({ kind: "unknown", message: "no answer" }));
  const [over, waiting, held] = [world.addTarget(), world.addTarget(), world.addTarget()];
  await request(sql, over, waiting, held);
  {
    await using _worker = startWorker(database, world, { settings: { visibleCallMs: 60_000 } });
    for (const target of [over, waiting, held]) await untilStatus(sql, target, "unknown");
  }
  await sql`
    update publish_tasks
    set wake_at = now(), publish_before = now() - interval '59 minutes'`;
  await sql`
    update publish_tasks
    set publish_before = now() - interval '61 minutes'
    where target_id in ${sql([over.targetId, held.targetId])}`;
  // A process of a newer version, which supports the platform, is searching it for this post.
  await sql`
    update publish_tasks
    set status = 'reconciling', wake_at = now() + interval '1 minute'
    where target_id = ${held.targetId}`;
  await using _worker = startWorker(database, world, { connectors: {} });

  await untilStatus(sql, over, "failed");
  expect(await lastUpdate(sql, over)).toMatchObject({
    errorCode: "outcome_unknown",
    errorMessage: "missed: the installed version of Postrider does not support the platform",
  });
  expect(await readTask(sql, waiting)).toMatchObject({ status: "unknown" });
  expect(await readTask(sql, held)).toMatchObject({ status: "reconciling" });
  expect(world.looks).toEqual([]);
});
