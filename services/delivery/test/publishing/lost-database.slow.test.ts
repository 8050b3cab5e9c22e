import { createLogger } from "@postrider/shared/telemetry/logger";
import { eventually } from "@postrider/shared/testing/poll";
import {
  countFailures,
  renameDatabase,
  type CountedPool,
} from "@postrider/shared/testing/rename-database";
import { expect, test } from "vitest";
import {
  CommentWorld,
  request as requestAction,
  startActionWorker,
  untilAllEnded,
} from "../engagement/fixture.ts";
import {
  attempted,
  insertDeliveries,
  insertSubscription,
  openWebhookDatabase,
  startReceiver,
  startTestDispatcher,
} from "../webhooks/dispatcher/fixture.ts";
import { listAttempts, openDatabase, request, startWorker, untilStatus, World } from "./fixture.ts";

/** More failed tries to record a result than a result gets that the database refuses. */
const FAILURES = 7;

test("the success of a publishing call is recorded although the database was renamed during the call and Postgres refused connections", async () => {
  await using database = await openDatabase();
  const world = new World();
  const target = world.addTarget();
  let pool: CountedPool | undefined;
  const renamed = Promise.withResolvers<AsyncDisposable>();
  world.reactions = [
    async (_call, _guard, make) => {
      renamed.resolve(await renameDatabase(database));
      return make();
    },
  ];
  await using _worker = startWorker(database, world, {
    settings: { visibleCallMs: 60_000, leaseMs: 60_000 },
    wrapSql: (sql) => {
      pool = countFailures(sql);
      return pool.sql;
    },
  });
  await request(database.sql, target);
  {
    await using _ = await renamed.promise;
    await eventually(() => (pool?.failures() ?? 0) >= FAILURES);
  }
  await untilStatus(database.sql, target, "published");
  expect(await listAttempts(database.sql, target)).toMatchObject([
    { number: 1, outcome: "published" },
  ]);
  expect(world.calls).toHaveLength(1);
});

test("the success of a comment action is recorded although the database was renamed during the call and Postgres refused connections", async () => {
  await using database = await openDatabase();
  const world = new CommentWorld();
  const account = world.addAccount();
  const renamed = Promise.withResolvers<AsyncDisposable>();
  let pool: CountedPool | undefined;
  world.reactions = [
    async (make) => {
      renamed.resolve(await renameDatabase(database));
      return { kind: "published", externalId: make(), permalink: null };
    },
  ];
  const id = await requestAction(database.sql, account);
  await using _worker = startActionWorker(database, world, {
    settings: { visibleCallMs: 60_000 },
    wrapSql: (sql) => {
      pool = countFailures(sql);
      return pool.sql;
    },
  });
  {
    await using _ = await renamed.promise;
    await eventually(() => (pool?.failures() ?? 0) >= FAILURES);
  }
  expect(await untilAllEnded(database.sql)).toMatchObject([
    { id, status: "succeeded", callNumber: 1 },
  ]);
  expect(world.calls).toHaveLength(1);
});

test("a webhook attempt is recorded although the database was renamed during the attempt and Postgres refused connections", async () => {
  await using database = await openWebhookDatabase();
  const renamed = Promise.withResolvers<AsyncDisposable>();
  await using receiver = await startReceiver((response) => {
    void renameDatabase(database).then((each) => {
      response.end("ok");
      renamed.resolve(each);
    });
  });
  const subscription = await insertSubscription(database.sql, { url: receiver.url });
  const [delivery] = await insertDeliveries(database.sql, subscription, 1);
  const errors: string[] = [];
  await using _dispatcher = startTestDispatcher(database.sql, {
    logger: createLogger({
      service: "delivery",
      level: "error",
      destination: { write: (line: string) => void errors.push(line) },
    }),
  });
  {
    await using _ = await renamed.promise;
    await eventually(
      () => errors.filter((line) => line.includes("could not be recorded")).length >= FAILURES,
    );
  }
  expect(await attempted(database.sql, delivery?.id ?? "", 1)).toMatchObject({
    status: "succeeded",
    attemptCount: 1,
  });
  expect(errors.filter((line) => line.includes("refused to record"))).toEqual([]);
});
