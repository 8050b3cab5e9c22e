import assert from "node:assert/strict";
import type { Handles } from "@postrider/platforms/publishing/handles";
import { eventually } from "@postrider/shared/testing/poll";
import { expect, test } from "vitest";
import {
  createRpcClients,
  lastUpdate,
  listAttempts,
  listUpdates,
  openDatabase,
  readHandles,
  request,
  startWorker,
  World,
  untilStatus,
  openStage,
} from "./fixture.ts";

test("a requested target is published once and reported with the id that the platform returned", async () => {
  await using database = await openDatabase();
  const world = new World();
  const target = world.addTarget();
  await using _worker = startWorker(database, world);

  await request(database.sql, target);

  const update = await eventually(async () => (await lastUpdate(database.sql, target)) ?? false);
  expect(update).toMatchObject({
    status: "published",
    externalId: "id-1",
    permalink: "https://example.test/id-1",
    generation: 1,
    attemptCount: 1,
    attempt: { number: 1, outcome: "published", code: "" },
  });
  expect(world.calls).toHaveLength(1);
});

test("the publish task of a target that the posts service no longer wants published gets the status dropped, without a platform call", async () => {
  await using database = await openDatabase();
  const world = new World();
  const target = world.addTarget({ wanted: false });
  await using _worker = startWorker(database, world);

  await request(database.sql, target);

  await untilStatus(database.sql, target, "dropped");
  expect(world.calls).toEqual([]);
  expect(await listUpdates(database.sql, target)).toEqual([]);
});

test.each([
  ["disconnected", "account_disconnected"],
  ["reconnect_required", "account_reconnect_required"],
])("a target of a %s account fails with %s without a platform call", async (status, code) => {
  await using database = await openDatabase();
  const world = new World();
  const target = world.addTarget();
  world.account(target).status = status;
  await using _worker = startWorker(database, world);

  await request(database.sql, target);

  const update = await eventually(async () => (await lastUpdate(database.sql, target)) ?? false);
  expect(update).toMatchObject({ status: "failed", errorCode: code, attemptCount: 0 });
  expect(update.attempt).toBeUndefined();
  expect(world.calls).toEqual([]);
});

test("no publishing call of a target starts after its publish_before", async () => {
  await using database = await openDatabase();
  const world = new World();
  const target = world.addTarget({ publishBefore: new Date(Date.now() - 500) });
  await using _worker = startWorker(database, world);

  await request(database.sql, target);

  const update = await eventually(async () => (await lastUpdate(database.sql, target)) ?? false);
  expect(update).toMatchObject({ status: "failed", errorCode: "missed", errorRetryable: true });
  expect(world.calls).toEqual([]);
});

test("the publication of a target waits while the accounts service does not answer, and the wait does not count as an attempt", async () => {
  await using database = await openDatabase();
  const world = new World();
  world.isUp.accounts = false;
  const target = world.addTarget();
  await using _worker = startWorker(database, world);
  await request(database.sql, target);
  await eventually(() => world.contentRequests > 0);

  world.isUp.accounts = true;

  const update = await eventually(async () => (await lastUpdate(database.sql, target)) ?? false);
  expect(update).toMatchObject({ status: "published", attemptCount: 1 });
});

test("a target whose access token cannot be read waits, and the targets that were claimed with it are published", async () => {
  await using database = await openStage();
  const { sql, world } = database;
  const [unreadable, readable] = [world.addTarget(), world.addTarget()];
  const account = world.accounts.get(unreadable.accountId);
  assert.ok(account);
  account.status = "unreadable";
  await request(sql, unreadable);
  await request(sql, readable);
  await using _worker = startWorker(database, world);
  await untilStatus(sql, readable, "published");
  expect(await listUpdates(sql, unreadable)).toEqual([]);

  account.status = "active";
  await eventually(async () => {
    const { targetId } = unreadable;
    const { count } = await sql`
      update publish_tasks
      set wake_at = now()
      where target_id = ${targetId}
      and lease_owner is null
      and status = 'queued'`;
    return count > 0;
  });

  await untilStatus(sql, unreadable, "published");
});

test("handles that the platform returns in a step before the publishing call are stored before that call, and the next attempt uses them", async () => {
  await using database = await openDatabase();
  const world = new World();
  let runs = 0;
  world.prepare = [
    {
      name: "record",
      isDone: (handles) => handles.rkey !== undefined,
      run: () => {
        runs += 1;
        return Promise.resolve({ rkey: `rkey-${runs}` });
      },
    },
  ];
  world.reactions = [
    () => ({ kind: "retryable", code: "platform_unavailable", message: "HTTP 503" }),
  ];
  const target = world.addTarget();
  await using _worker = startWorker(database, world);

  await request(database.sql, target);

  await untilStatus(database.sql, target, "published");
  expect(world.calls.map(({ handles }) => handles)).toEqual([
    { rkey: "rkey-1" },
    { rkey: "rkey-1" },
  ]);
  expect(await database.sql`select 1 from publish_tasks where handles is not null`).toHaveLength(0);
});

test("handles that a worker makes itself are stored by the mark, for the search after a lost call, and deleted when the target is published", async () => {
  await using database = await openDatabase();
  const world = new World();
  let runs = 0;
  world.prepare = [
    {
      name: "record",
      isOwn: true,
      isDone: (handles) => handles.rkey !== undefined,
      run: () => {
        runs += 1;
        return Promise.resolve({ rkey: `rkey-${runs}` });
      },
    },
  ];
  const stored: Handles[] = [];
  const target = world.addTarget();
  world.reactions = [
    async (_call, _guard, make) => {
      stored.push(await readHandles(database.sql, target));
      return make();
    },
  ];
  // Between the step and the mark the worker changes no row of the task.
  await database.migrationSql`
    alter table publish_tasks add check (handles is null or status in ('calling', 'unknown', 'reconciling'))`;
  await using _worker = startWorker(database, world);

  await request(database.sql, target);

  await untilStatus(database.sql, target, "published");
  expect(stored).toEqual([{ rkey: "rkey-1" }]);
  expect(await readHandles(database.sql, target)).toEqual({});
});

test("a refused access token is refreshed once within the same attempt", async () => {
  await using database = await openDatabase();
  const world = new World();
  world.reactions = [() => ({ kind: "token_refused", message: "expired" })];
  const target = world.addTarget();
  await using _worker = startWorker(database, world);

  await request(database.sql, target);

  await untilStatus(database.sql, target, "published");
  expect(world.calls.map(({ token }) => token)).toEqual(["first-token", "second-token"]);
  expect(await listAttempts(database.sql, target)).toEqual([
    { number: 1, outcome: "published", code: "", externalId: "id-1" },
  ]);
});

test("an account must be reconnected when the platform refuses its access token again after a refresh", async () => {
  await using database = await openDatabase();
  const world = new World();
  const refuse = () => ({ kind: "token_refused", message: "expired" }) as const;
  world.reactions = [refuse, refuse];
  const target = world.addTarget();
  await using _worker = startWorker(database, world);

  await request(database.sql, target);

  const update = await eventually(async () => (await lastUpdate(database.sql, target)) ?? false);
  expect(update).toMatchObject({
    status: "failed",
    errorCode: "account_reconnect_required",
    errorRetryable: false,
    attemptCount: 1,
  });
  expect(world.reconnects).toMatchObject([
    { ref: { accountId: target.accountId }, credentialVersion: 2n },
  ]);
});

test("an account stays connected when the token endpoint of its platform does not answer", async () => {
  await using database = await openDatabase();
  const world = new World();
  world.reactions = [() => ({ kind: "token_refused", message: "expired" })];
  const target = world.addTarget();
  world.account(target).refreshed = undefined;
  await using _worker = startWorker(database, world);

  await request(database.sql, target);

  await untilStatus(database.sql, target, "published");
  expect(world.reconnects).toEqual([]);
  expect(await listAttempts(database.sql, target)).toMatchObject([
    { outcome: "retry", code: "platform_unavailable" },
    { outcome: "published" },
  ]);
});

test("BatchGetTargetStates returns the same state of a target as the events about the target", async () => {
  await using database = await openDatabase();
  const world = new World();
  const target = world.addTarget();
  const stranger = world.addTarget();
  await using _worker = startWorker(database, world);
  await request(database.sql, target);
  const update = await eventually(async () => (await lastUpdate(database.sql, target)) ?? false);
  const { tasks } = createRpcClients(database.sql);
  const ref = { workspaceId: target.workspaceId, targetId: target.targetId, generation: 1 };
  const other = { workspaceId: stranger.workspaceId, targetId: stranger.targetId, generation: 1 };

  const answer = await tasks.batchGetTargetStates({ refs: [ref, other] });

  expect(answer.updates).toEqual([update]);
  expect(answer.unknown).toMatchObject([other]);
});

test("BatchGetTargetStates reports a target of another workspace as unknown", async () => {
  await using database = await openDatabase();
  const world = new World();
  const target = world.addTarget();
  const stranger = world.addTarget();
  await request(database.sql, target);
  const { tasks } = createRpcClients(database.sql);
  const foreign = { workspaceId: stranger.workspaceId, targetId: target.targetId, generation: 1 };

  const answer = await tasks.batchGetTargetStates({ refs: [foreign] });

  expect(answer).toMatchObject({ updates: [], unknown: [foreign] });
});

test("an operator's pause stops the publication of the targets in its scope until the operator resumes publishing", async () => {
  await using database = await openDatabase();
  const world = new World();
  const [paused, free] = [world.addTarget(), world.addTarget()];
  const { pauses } = createRpcClients(database.sql);
  await pauses.pausePublishing({ kind: "account", key: paused.accountId });
  await pauses.pausePublishing({ kind: "account", key: paused.accountId });
  await using _worker = startWorker(database, world);
  await request(database.sql, paused, free);
  await untilStatus(database.sql, free, "published");
  expect((await pauses.listPauses({})).pauses).toMatchObject([
    { kind: "account", key: paused.accountId },
  ]);
  expect(world.calls.map(({ targetId }) => targetId)).toEqual([free.targetId]);

  expect(await pauses.resumePublishing({ kind: "account", key: paused.accountId })).toMatchObject({
    resumed: true,
  });

  await untilStatus(database.sql, paused, "published");
  expect(await pauses.resumePublishing({ kind: "account", key: paused.accountId })).toMatchObject({
    resumed: false,
  });
});

test("PausePublishing refuses a pause with an invalid scope", async () => {
  await using database = await openDatabase();
  const { pauses } = createRpcClients(database.sql);

  await expect(pauses.pausePublishing({ kind: "planet", key: "x" })).rejects.toMatchObject({
    reason: "invalid_request",
  });
  await expect(pauses.pausePublishing({ kind: "platform", key: "y" })).rejects.toMatchObject({
    reason: "invalid_request",
  });
});
