import type { PrepareStep } from "@postrider/platforms/publishing/steps";
import { ServiceError } from "@postrider/shared/errors";
import type { Sql } from "@postrider/shared/postgres";
import { eventually } from "@postrider/shared/testing/poll";
import { expect, test } from "vitest";
import { markCalls } from "#src/calls/marks.ts";
import { TASK_TABLE } from "#src/publishing/db/task-table.ts";
import { createEventRecorder } from "#src/publishing/jobs/claim-tasks/event-recorder.ts";
import {
  after,
  createRpcClients,
  lastUpdate,
  listUpdates,
  openDatabase,
  publishingDeps,
  readTask,
  request,
  startWorker,
  World,
  type TestTarget,
  untilStatus,
  openStage,
} from "./fixture.ts";

const never = new Promise<never>(() => undefined);

/** Adds targets of one post, each on an account of its own. */
function addPost(world: World, count: number, given: Partial<TestTarget> = {}): TestTarget[] {
  const { workspaceId, postId } = world.addTarget();
  return Array.from({ length: count }, () => world.addTarget({ workspaceId, postId, ...given }));
}

async function cancel(sql: Sql, ...targets: readonly TestTarget[]) {
  const { tasks } = createRpcClients(sql);
  return await tasks.cancelTargets({
    postId: targets[0]?.postId ?? "",
    targets: targets.map(({ workspaceId, targetId, generation, accountId, platform }) => ({
      ref: { workspaceId, targetId, generation },
      accountId,
      platform,
    })),
  });
}

async function ask(sql: Sql, ...targets: readonly TestTarget[]) {
  const { tasks } = createRpcClients(sql);
  return await tasks.batchGetTargetStates({
    refs: targets.map(({ workspaceId, targetId, generation }) => ({
      workspaceId,
      targetId,
      generation,
    })),
  });
}

const REFUSED = expect.objectContaining({ reason: "post_publishing" }) as ServiceError;

/**
 * Requests the cancellation of targets. Returns false if a publishing call of one of the targets is
 * open.
 */
async function tryCancel(sql: Sql, targets: readonly TestTarget[]) {
  try {
    return (await cancel(sql, ...targets)).ended;
  } catch (error) {
    if (error instanceof ServiceError && error.reason === "post_publishing") return false;
    throw error;
  }
}

/** A step before the publishing call that does not end until the test ends it. */
function gatedStep() {
  const gate = Promise.withResolvers<void>();
  let runs = 0;
  const step: PrepareStep = {
    name: "gated",
    isDone: (handles) => handles.gate !== undefined,
    run: async () => {
      runs += 1;
      await gate.promise;
      return { gate: "open" };
    },
  };
  return { step, open: () => gate.resolve(), isReached: () => runs > 0 };
}

test("a queued target that is cancelled is never sent to the platform, even when its publish request is repeated", async () => {
  await using database = await openStage();
  const { sql, world } = database;
  const targets = addPost(world, 3, { dueAt: new Date(Date.now() + 300) });
  await request(sql, ...targets);

  expect((await cancel(sql, ...targets)).ended).toEqual([]);
  expect((await cancel(sql, ...targets)).ended).toEqual([]);

  await using _worker = startWorker(database, world);
  await request(sql, ...targets);
  const other = world.addTarget({ dueAt: new Date(Date.now() + 400) });
  await request(sql, other);
  await untilStatus(sql, other, "published");
  expect(world.calls).toHaveLength(1);
  for (const target of targets)
    expect(await readTask(sql, target)).toMatchObject({ status: "dropped" });
});

test("a target on a platform that this version does not support can be cancelled, so that no later version publishes it", async () => {
  await using database = await openDatabase();
  const { sql } = database;
  const [target] = addPost(new World(), 1);
  if (target === undefined) throw new Error("the test has no target");
  const { tasks } = createRpcClients(sql);
  const { workspaceId, targetId, generation, accountId, postId } = target;
  const ref = { workspaceId, targetId, generation };

  const cancelled = { ref, accountId, platform: "myspace" };
  expect((await tasks.cancelTargets({ postId, targets: [cancelled] })).ended).toEqual([]);
  await request(sql, target);

  expect(await ask(sql, target)).toMatchObject({ updates: [], cancelled: [ref] });
});

test("a target that is cancelled before its publish request arrives is never sent to the platform", async () => {
  await using database = await openStage();
  const { sql, world } = database;
  const [target] = addPost(world, 1) as [TestTarget];
  await using _worker = startWorker(database, world);

  await cancel(sql, target);
  await request(sql, target);

  const other = world.addTarget();
  await request(sql, other);
  await untilStatus(sql, other, "published");
  expect(await readTask(sql, target)).toMatchObject({ status: "dropped", fence: 1 });
  expect(world.calls).toHaveLength(1);
});

test("BatchGetTargetStates reports a cancelled target as cancelled, and the target is published once when it is requested again later", async () => {
  await using database = await openStage();
  const { sql, world } = database;
  const [target, foreign] = addPost(world, 2) as [TestTarget, TestTarget];
  await request(sql, target);
  await cancel(sql, target);

  const ref = { targetId: target.targetId, generation: 1 };
  expect(await ask(sql, target, foreign)).toMatchObject({
    updates: [],
    unknown: [ref, { targetId: foreign.targetId }],
    cancelled: [ref],
  });

  target.generation = 2;
  await using _worker = startWorker(database, world);
  await request(sql, target);
  await untilStatus(sql, target, "published");
  expect(await lastUpdate(sql, target)).toMatchObject({ generation: 2, status: "published" });
  expect(world.calls).toHaveLength(1);
});

test("a worker that holds the task of a target cannot begin the publishing call after the target is cancelled", async () => {
  await using database = await openStage();
  const { sql, world } = database;
  const { step, open, isReached } = gatedStep();
  world.prepare = [step];
  const [target] = addPost(world, 1) as [TestTarget];
  await using _worker = startWorker(database, world, { settings: { leaseMs: 60_000 } });
  await request(sql, target);
  await eventually(isReached);
  const held = await readTask(sql, target);
  expect(held).toMatchObject({ status: "working", fence: 1 });

  await cancel(sql, target);
  const { targetId } = target;
  const marks = await markCalls(sql, TASK_TABLE, [
    {
      targetId,
      generation: 1,
      fence: held.fence,
      callKey: "hash",
      externalAccountId: "external-1",
      callMs: 1000,
    },
  ]);
  expect(marks).toEqual([]);
  open();

  world.prepare = [];
  const other = world.addTarget({ accountId: target.accountId });
  await request(sql, other);
  await untilStatus(sql, other, "published");
  expect(world.calls.map((call) => call.targetId)).toEqual([other.targetId]);
  expect(await readTask(sql, target)).toMatchObject({ status: "dropped", fence: 2 });
  expect(await listUpdates(sql, target)).toEqual([]);
});

test("CancelTargets cancels none of the targets in its request while one of them is in its publishing call", async () => {
  await using database = await openStage();
  const { sql, world } = database;
  const [waiting, calling, unheard] = addPost(world, 3) as [TestTarget, TestTarget, TestTarget];
  waiting.dueAt = new Date(Date.now() + 60_000);
  const answer = Promise.withResolvers<void>();
  world.reactions = [after(answer.promise)];
  await using _worker = startWorker(database, world);
  await request(sql, waiting, calling);
  await eventually(() => world.calls.length === 1);

  await expect(cancel(sql, waiting, calling, unheard)).rejects.toEqual(REFUSED);

  expect(await readTask(sql, waiting)).toMatchObject({ status: "queued", fence: 0 });
  await expect(readTask(sql, unheard)).rejects.toThrow("no such task");
  answer.resolve();
  await untilStatus(sql, calling, "published");
  const { ended } = await cancel(sql, waiting, calling, unheard);
  expect(ended).toEqual([await lastUpdate(sql, calling)]);
  expect(await readTask(sql, waiting)).toMatchObject({ status: "dropped" });
  expect(await readTask(sql, unheard)).toMatchObject({ status: "dropped" });
});

test.each(["unknown", "reconciling"])(
  "a target whose publish task has the status %s cannot be cancelled",
  async (status) => {
    await using database = await openStage();
    const { sql, world } = database;
    const [target, waiting] = addPost(world, 2) as [TestTarget, TestTarget];
    await request(sql, target, waiting);
    await sql`update publish_tasks set status = ${status} where target_id = ${target.targetId}`;

    await expect(cancel(sql, target, waiting)).rejects.toEqual(REFUSED);
    expect(await readTask(sql, waiting)).toMatchObject({ status: "queued" });
  },
);

test("a target that waits to repeat its publishing call because the outcome is unknown cannot be cancelled", async () => {
  await using database = await openStage();
  const { sql, world } = database;
  const [target] = addPost(world, 1) as [TestTarget];
  await request(sql, target);
  await sql`update publish_tasks set open_unknowns = 1`;

  await expect(cancel(sql, target)).rejects.toEqual(REFUSED);
});

test("CancelTargets returns the state of a target that is already published or failed, and does not change it", async () => {
  await using database = await openStage();
  const { sql, world } = database;
  const [published, failed] = addPost(world, 2) as [TestTarget, TestTarget];
  world.reactions = [
    (_call, _guard, make) => make(),
    () => ({ kind: "refused", code: "content_rejected", message: "no" }),
  ];
  await using _worker = startWorker(database, world);
  await request(sql, published);
  await untilStatus(sql, published, "published");
  await request(sql, failed);
  await untilStatus(sql, failed, "failed");

  const { ended } = await cancel(sql, published, failed);

  expect(ended).toEqual([await lastUpdate(sql, published), await lastUpdate(sql, failed)]);
  expect(await readTask(sql, published)).toMatchObject({ status: "published" });
});

test("a post that the platform published is reported even if its publish task got the status dropped before the success became known", async () => {
  await using database = await openStage();
  const { sql, world } = database;
  const settings = { visibleCallMs: 250, leaseMs: 1_000 };
  const [target] = addPost(world, 1) as [TestTarget];
  world.reactions = [() => never];
  const stopped = startWorker(database, world, { settings });
  await request(sql, target);
  await eventually(() => world.calls.length === 1);
  await stopped.crash();
  // The search of the platform proves that the publishing call published nothing, and the task
  // waits for its next try. So no publishing call is open.
  world.verdicts = [() => ({ kind: "absent" })];
  {
    const { step, open, isReached } = gatedStep();
    world.prepare = [step];
    await using _worker = startWorker(database, world, { settings });
    await eventually(isReached);
    await cancel(sql, target);
    open();
  }
  expect(await readTask(sql, target)).toMatchObject({ status: "dropped" });

  const late = { kind: "published", externalId: "late", permalink: "https://late.test" } as const;
  await createEventRecorder(publishingDeps(world, sql)).record({
    targetId: target.targetId,
    generation: 1,
    attemptNumber: 1,
    kind: "called",
    callNumber: 1,
    outcome: late,
  });

  expect(await lastUpdate(sql, target)).toMatchObject({
    generation: 1,
    status: "published",
    externalId: "late",
  });
  expect((await cancel(sql, target)).ended).toMatchObject([{ externalId: "late" }]);
});

test("of a concurrent cancellation and publishing call of one target, either one succeeds, never both", async () => {
  await using database = await openStage(10);
  const { sql, world } = database;
  await using _one = startWorker(database, world);
  await using _other = startWorker(database, world);
  const posts = Array.from({ length: 60 }, () => addPost(world, 3));

  const results = await Promise.all(
    posts.map(async (targets, index) => {
      const requested = request(sql, ...targets);
      if (index % 3 > 0) await requested;
      if (index % 3 > 1) await new Promise((resolve) => setImmediate(resolve));
      const ended = await eventually(() => tryCancel(sql, targets));
      await requested;
      return { targets, ended: new Set(ended.map(({ targetId }) => targetId)) };
    }),
  );

  const last = world.addTarget();
  await request(sql, last);
  await untilStatus(sql, last, "published");
  const sent = new Set(world.visible.map(({ targetId }) => targetId));
  for (const { targets, ended } of results)
    for (const target of targets) {
      expect(sent.has(target.targetId)).toBe(ended.has(target.targetId));
      const status = ended.has(target.targetId) ? "published" : "dropped";
      expect(await readTask(sql, target)).toMatchObject({ status });
    }

  expect(world.visible).toHaveLength(sent.size);
});

test("CancelTargets refuses a request with malformed targets", async () => {
  await using database = await openDatabase();
  const world = new World();
  const [target] = addPost(world, 1) as [TestTarget];
  const bad = expect.objectContaining({ reason: "invalid_request" }) as ServiceError;

  await expect(cancel(database.sql, { ...target, generation: 0 })).rejects.toEqual(bad);
  await expect(cancel(database.sql, { ...target, accountId: "no id" })).rejects.toEqual(bad);
  await expect(cancel(database.sql, ...Array.from({ length: 101 }, () => target))).rejects.toEqual(
    bad,
  );
  expect((await createRpcClients(database.sql).tasks.cancelTargets({})).ended).toEqual([]);
});
