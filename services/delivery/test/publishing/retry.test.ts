import { randomUUID } from "node:crypto";
import { eventually } from "@postrider/shared/testing/poll";
import { expect, test } from "vitest";
import {
  lastUpdate,
  listAttempts,
  listUpdates,
  openDatabase,
  readTask,
  request,
  startWorker,
  World,
  type Reaction,
  untilStatus,
} from "./fixture.ts";
import { runTarget } from "./run-target.ts";

const unavailable: Reaction = () => ({
  kind: "retryable",
  code: "platform_unavailable",
  message: "not connected",
});

test("a publishing call that fails with a retryable error is tried again, and each attempt is reported", async () => {
  await using run = await runTarget("published", { reactions: [unavailable, unavailable] });
  const { sql, target } = run;
  const updates = await listUpdates(sql, target);
  expect(
    updates.map(({ status, errorCode, attemptCount, attempt }) => ({
      status,
      errorCode,
      attemptCount,
      outcome: attempt?.outcome,
    })),
  ).toEqual([
    { status: "publishing", errorCode: "platform_unavailable", attemptCount: 1, outcome: "retry" },
    { status: "publishing", errorCode: "platform_unavailable", attemptCount: 2, outcome: "retry" },
    { status: "published", errorCode: undefined, attemptCount: 3, outcome: "published" },
  ]);
  expect(updates[0]?.nextAttemptAt).toBeDefined();
  const versions = updates.map(({ version }) => version);
  expect(versions).toEqual(versions.toSorted((a, b) => Number(a - b)));
});

test("a target fails with the error code of its last retry", async () => {
  await using run = await runTarget("failed", {
    reactions: [unavailable, unavailable, unavailable, unavailable],
  });
  const { sql, target, world } = run;
  expect(await lastUpdate(sql, target)).toMatchObject({
    status: "failed",
    errorCode: "platform_unavailable",
    errorRetryable: true,
    attemptCount: 4,
  });
  expect(world.calls).toHaveLength(4);
});

test("a target that the platform refuses fails without a retry", async () => {
  await using run = await runTarget("failed", {
    reactions: [() => ({ kind: "refused", code: "content_rejected", message: "too long" })],
  });
  const { sql, target } = run;
  expect(await lastUpdate(sql, target)).toMatchObject({
    errorCode: "content_rejected",
    errorMessage: "too long",
    errorRetryable: false,
    attempt: { number: 1, outcome: "failed", code: "content_rejected" },
  });
});

test("the attempts of a target are numbered consecutively when the user retries the target", async () => {
  await using run = await runTarget("failed", {
    reactions: [() => ({ kind: "refused", code: "content_rejected", message: "" })],
  });
  const { sql, target } = run;

  target.generation = 2;
  await request(sql, target);

  await untilStatus(sql, target, "published");
  expect(await listAttempts(sql, target)).toMatchObject([
    { number: 1, outcome: "failed" },
    { number: 2, outcome: "published" },
  ]);
  expect(await lastUpdate(sql, target)).toMatchObject({ generation: 2, attemptCount: 2 });
});

test("a rate limit of the platform does not count as an attempt and stops all publications of the account", async () => {
  await using database = await openDatabase();
  const world = new World();
  world.reactions = [
    () => ({
      kind: "retryable",
      code: "rate_limited",
      message: "",
      retryAfterMs: 400,
      isLimit: true,
    }),
  ];
  const accountId = randomUUID();
  const first = world.addTarget({ accountId, dueAt: new Date(Date.now() - 5_000) });
  const second = world.addTarget({ accountId });
  await using _worker = startWorker(database, world);

  await request(database.sql, first, second);

  const told = await eventually(async () => (await lastUpdate(database.sql, first)) ?? false);
  expect(told).toMatchObject({ status: "publishing", errorCode: "rate_limited", attemptCount: 0 });
  expect(told.attempt).toBeUndefined();
  expect(world.calls).toHaveLength(1);
  await untilStatus(database.sql, second, "published");
  await untilStatus(database.sql, first, "published");
  expect(await listAttempts(database.sql, first)).toMatchObject([
    { number: 1, outcome: "published" },
  ]);
  const [breaker] = await database.sql<{ notBefore: Date }[]>`
    select not_before
    from account_breakers
    where account_id = ${accountId}`;
  const [call] = await database.sql<{ calledAt: Date }[]>`
    select min(called_at) as called_at
    from publish_attempts
    where account_id = ${accountId}`;
  expect(call?.calledAt.getTime()).toBeGreaterThanOrEqual(breaker?.notBefore.getTime() ?? Infinity);
});

test("five publishing failures in a row pause an account, and a success resets the number of failures", async () => {
  await using database = await openDatabase();
  const world = new World();
  world.reactions = Array.from({ length: 5 }, () => unavailable);
  const accountId = randomUUID();
  const targets = Array.from({ length: 3 }, () => world.addTarget({ accountId }));
  const settings = { retryMs: [1, 1, 1, 1, 1, 1] };
  await using _worker = startWorker(database, world, { settings });

  await request(database.sql, ...targets);

  const breaker = await eventually(async () => {
    const [row] = await database.sql<{ notBefore: Date | null; failuresInRow: number }[]>`
      select not_before, failures_in_row
      from account_breakers
      where account_id = ${accountId}`;
    return row?.failuresInRow === 5 ? row : false;
  });
  expect(breaker.notBefore).toBeInstanceOf(Date);
  await eventually(async () => {
    const tasks = await Promise.all(targets.map((target) => readTask(database.sql, target)));
    return tasks.every(({ status }) => status === "published");
  });
  const [row] = await database.sql`select failures_in_row from account_breakers`;
  expect(row).toMatchObject({ failuresInRow: 0 });
});
