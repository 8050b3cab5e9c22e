import { appLimitReached } from "@postrider/platforms/publishing/outcome";
import type { PrepareStep } from "@postrider/platforms/publishing/steps";
import { pngMedia } from "@postrider/platforms/test/test-media";
import { eventually } from "@postrider/shared/testing/poll";
import { expect, test } from "vitest";
import {
  consume,
  lastDeletion,
  listAttempts,
  readTask,
  request,
  startWorker,
  toDeletionRecord,
  untilStatus,
  openStage,
} from "./fixture.ts";

const HOUR_MS = 3_600_000;
const USED_UP = "the limit 'Video Uploads per day' is used up";

/** A preparation step that finds a limit of our app used up, and counts how often it runs. */
function limitedStep(onRun: () => void): PrepareStep {
  return {
    name: "upload",
    isDone: () => false,
    run: () => {
      onRun();
      return Promise.resolve(appLimitReached("platform_quota", USED_UP, HOUR_MS / 2));
    },
  };
}

test("when a limit of our app is used up, the targets of all accounts wait without a call to the platform, and their attempts say why", async () => {
  await using database = await openStage();
  const { sql, world } = database;
  let runs = 0;
  world.prepare = [limitedStep(() => (runs += 1))];
  const first = world.addTarget();
  const second = world.addTarget();
  await using _worker = startWorker(database, world);
  await request(sql, first);
  await eventually(async () =>
    expect(await readTask(sql, first)).toMatchObject({ errorCode: "platform_quota" }),
  );
  await request(sql, second);

  await eventually(async () =>
    expect(await readTask(sql, second)).toMatchObject({
      status: "queued",
      errorCode: "platform_quota",
    }),
  );
  expect(runs).toBe(1);
  expect(world.calls).toEqual([]);
  expect(await listAttempts(sql, second)).toMatchObject([
    { outcome: null, code: "platform_quota" },
  ]);
  const [waiting] = await sql<{ minutes: number }[]>`
    select extract(epoch from wake_at - now())::float8 / 60 as minutes
    from publish_tasks
    where target_id = ${second.targetId}`;
  expect(waiting?.minutes).toBeGreaterThan(25);
  expect(waiting?.minutes).toBeLessThanOrEqual(30);
});

test("no files are prepared for a target that waits for a limit of our app", async () => {
  await using database = await openStage();
  const { sql, world } = database;
  await sql`
    insert into platform_limits (platform, until, code, message)
    values ('x', now() + interval '30 minutes', 'platform_quota', ${USED_UP})`;
  const target = world.addTarget({ media: [pngMedia(1)] });
  let prepared = 0;
  const prepare = () => {
    prepared += 1;
    return Promise.resolve([]);
  };
  const media = { describe: () => pngMedia(1), prepare };
  await using _worker = startWorker(database, world, { media });
  await request(sql, target);

  await eventually(async () =>
    expect(await readTask(sql, target)).toMatchObject({
      status: "queued",
      errorCode: "platform_quota",
    }),
  );
  expect(prepared).toBe(0);
});

test("a limit of our app at one platform does not stop the targets of another platform, and ends at its time", async () => {
  await using database = await openStage();
  const { sql, world } = database;
  await sql`
    insert into platform_limits (platform, until, code, message)
    values
      ('youtube', now() + interval '1 hour', 'platform_quota', ${USED_UP}),
      ('x', now() - interval '1 second', 'platform_quota', ${USED_UP})`;
  const target = world.addTarget();
  await using _worker = startWorker(database, world);
  await request(sql, target);

  await untilStatus(sql, target, "published");
});

test("after a platform reports a limit of our app, the targets of its other accounts wait without a call or a search", async () => {
  await using database = await openStage();
  const { sql, world } = database;
  world.reactions = [() => appLimitReached("platform_quota", USED_UP, HOUR_MS / 2)];
  const first = world.addTarget();
  const second = world.addTarget();
  await using _worker = startWorker(database, world);
  for (const target of [first, second]) {
    await request(sql, target);
    await eventually(async () =>
      expect(await readTask(sql, target)).toMatchObject({
        status: "queued",
        errorCode: "platform_quota",
      }),
    );
  }
  expect(world.calls).toMatchObject([{ targetId: first.targetId }]);
  expect(world.looks).toEqual([]);
});

test("a limit of our app that holds the publications of an account holds no deletion of its posts", async () => {
  await using database = await openStage();
  const { sql, world } = database;
  const target = world.addTarget();
  await using _worker = startWorker(database, world);
  await request(sql, target);
  await untilStatus(sql, target, "published");
  await sql`
    insert into platform_limits (platform, until, code, message)
    values ('x', now() + interval '1 hour', 'platform_quota', ${USED_UP})`;
  const next = world.addTarget({ accountId: target.accountId });
  await request(sql, next);
  await eventually(async () =>
    expect(await readTask(sql, next)).toMatchObject({ errorCode: "platform_quota" }),
  );

  const { externalId } = await readTask(sql, target);
  await consume(sql, [toDeletionRecord(target, externalId ?? "")]);
  await eventually(async () =>
    expect(await lastDeletion(sql, target)).toMatchObject({ status: "deleted" }),
  );
});
