import { randomUUID } from "node:crypto";
import { isUniqueViolation, type Sql } from "@postrider/shared/postgres";
import { eventually } from "@postrider/shared/testing/poll";
import { expect, test } from "vitest";
import { CallMarker } from "#src/calls/call-marker.ts";
import { markCalls } from "#src/calls/marks.ts";
import { TASK_TABLE } from "#src/publishing/db/task-table.ts";
import { nameClaim, type ClaimedTask, hashContent } from "#src/publishing/domain/task.ts";
import { createHandleStore } from "#src/publishing/jobs/claim-tasks/handle-store.ts";
import { LeasedTasks } from "#src/publishing/jobs/claim-tasks/leased-tasks.ts";
import { claim } from "./claim.ts";
import {
  logger,
  openDatabase,
  readTask,
  request,
  startWorker,
  World,
  type TestTarget,
} from "./fixture.ts";

function toMark(task: ClaimedTask, callKey: string) {
  const { targetId, generation, fence } = task;
  return { targetId, generation, fence, callKey, externalAccountId: targetId, callMs: 60_000 };
}

/** Makes the publish task claimable again, as if its lease had ended. */
async function expire(sql: Sql, target: TestTarget) {
  await sql`
    update publish_tasks
    set wake_at = now()
    where target_id = ${target.targetId}`;
}

test("three workers publish 150 targets of 15 accounts once each, and never two targets of one account at a time", async () => {
  await using database = await openDatabase();
  const world = new World();
  const accounts = Array.from({ length: 15 }, () => randomUUID());
  const targets = Array.from({ length: 150 }, (_, index) =>
    world.addTarget({ accountId: accounts[index % 15] ?? "" }),
  );
  const inTheAir = new Map<string, number>();
  let mostAtOnce = 0;
  const connector = world.connector();
  const watched = {
    ...connector,
    publish: async (...call: Parameters<typeof connector.publish>) => {
      const { externalId } = call[0];
      const now = (inTheAir.get(externalId) ?? 0) + 1;
      inTheAir.set(externalId, now);
      mostAtOnce = Math.max(mostAtOnce, now);
      const { promise, resolve } = Promise.withResolvers<void>();
      setImmediate(resolve);
      await promise;
      const outcome = await connector.publish(...call);
      inTheAir.set(externalId, (inTheAir.get(externalId) ?? 0) - 1);
      return outcome;
    },
  };
  // A worker that a busy machine stops for longer than its lease loses the account to another one.
  const options = { connectors: { x: watched }, settings: { leaseMs: 60_000 } };
  await using _a = startWorker(database, world, options);
  await using _b = startWorker(database, world, options);
  await using _c = startWorker(database, world, options);

  await request(database.sql, ...targets);

  await eventually(async () => {
    const [row] = await database.sql<{ count: number }[]>`
      select count(*) as count
      from publish_tasks
      where status = 'published'`;
    return row?.count === 150;
  });
  expect(world.calls).toHaveLength(150);
  expect(new Set(world.calls.map(({ targetId }) => targetId)).size).toBe(150);
  expect(mostAtOnce).toBe(1);
});

test("two concurrent claims never return the same publish task", async () => {
  await using database = await openDatabase(8);
  const world = new World();
  const targets = Array.from({ length: 40 }, () => world.addTarget());
  await request(database.sql, ...targets);

  const claims = await Promise.all(Array.from({ length: 8 }, () => claim(database.sql)));

  const names = claims.flat().map(({ targetId }) => targetId);
  expect(new Set(names).size).toBe(names.length);
  expect(names).toHaveLength(40);
});

test("a claim for publish tasks skips an account while one of its tasks is being worked on, and takes tasks of other accounts", async () => {
  await using database = await openDatabase();
  const world = new World();
  const busy = randomUUID();
  const crowd = Array.from({ length: 30 }, () => world.addTarget({ accountId: busy }));
  const other = world.addTarget({ dueAt: new Date() });
  await request(database.sql, ...crowd, other);

  const first = await claim(database.sql);
  const second = await claim(database.sql);

  expect(first.map(({ accountId }) => accountId).toSorted()).toEqual(
    [busy, other.accountId].toSorted(),
  );
  expect(second).toEqual([]);
});

test("a claim for publish tasks takes tasks from the workspaces in turn when it cannot take all ready tasks", async () => {
  await using database = await openDatabase();
  const world = new World();
  const [large, small] = [randomUUID(), randomUUID()];
  const crowd = Array.from({ length: 20 }, () => world.addTarget({ workspaceId: large }));
  const single = world.addTarget({ workspaceId: small, dueAt: new Date() });
  await request(database.sql, ...crowd, single);

  const claimed = await claim(database.sql, { limit: 2 });

  expect(claimed.map(({ workspaceId }) => workspaceId).toSorted()).toEqual(
    [large, small].toSorted(),
  );
});

/**
 * Puts two publish tasks of one account in work at once. Claims rarely do so; the unique indexes
 * alone prevent two open publishing calls.
 */
async function claimTwoOfOneAccount(sql: Sql) {
  const world = new World();
  const accountId = randomUUID();
  const targets = [world.addTarget({ accountId }), world.addTarget({ accountId })] as const;
  await request(sql, targets[0]);
  const [first] = await claim(sql);
  await expire(sql, targets[0]);
  await request(sql, targets[1]);
  await sql`update publish_tasks set wake_at = now() - interval '1 hour' where target_id = ${targets[1].targetId}`;
  const [second] = await claim(sql);
  if (first === undefined || second === undefined) throw new Error("not claimed");
  return { first, second };
}

test("an account never has two publishing calls open at a time", async () => {
  await using database = await openDatabase();
  const { first, second } = await claimTwoOfOneAccount(database.sql);

  expect(await markCalls(database.sql, TASK_TABLE, [toMark(first, "one")])).toHaveLength(1);
  const again = markCalls(database.sql, TASK_TABLE, [toMark(second, "two")]);

  await expect(again).rejects.toSatisfy((error) =>
    isUniqueViolation(error, "publish_tasks_one_calling"),
  );
});

test("the unique index on open calls is needed: without it, an account can have two publishing calls open at a time", async () => {
  await using database = await openDatabase();
  await database.migrationSql`drop index publish_tasks_one_calling`;
  const { first, second } = await claimTwoOfOneAccount(database.sql);

  expect(await markCalls(database.sql, TASK_TABLE, [toMark(first, "one")])).toHaveLength(1);
  expect(await markCalls(database.sql, TASK_TABLE, [toMark(second, "two")])).toHaveLength(1);
});

test("an account never sends content again while an earlier call with the same content has an unknown outcome", async () => {
  await using database = await openDatabase();
  const { first, second } = await claimTwoOfOneAccount(database.sql);
  await markCalls(database.sql, TASK_TABLE, [toMark(first, "same")]);
  await database.sql`update publish_tasks set status = 'unknown' where target_id = ${first.targetId}`;

  const again = markCalls(database.sql, TASK_TABLE, [toMark(second, "same")]);

  await expect(again).rejects.toSatisfy((error) =>
    isUniqueViolation(error, "publish_tasks_one_content"),
  );
});

test("a target that one publish request has published is not published again by another publish request", async () => {
  await using database = await openDatabase();
  const world = new World();
  const target = world.addTarget();
  await request(database.sql, target);
  target.generation = 2;
  await request(database.sql, target);
  const publish = (generation: number) => database.sql`
    update publish_tasks
    set status = 'published'
    where target_id = ${target.targetId}
    and generation = ${generation}`;

  await publish(1);

  await expect(publish(2)).rejects.toSatisfy((error) =>
    isUniqueViolation(error, "publish_tasks_one_published"),
  );
});

/** Claims a publish task, lets its lease end, and claims the task again. */
async function claimTwice(sql: Sql) {
  const target = new World().addTarget();
  await request(sql, target);
  const [stale] = await claim(sql);
  await expire(sql, target);
  const [current] = await claim(sql);
  if (stale === undefined || current === undefined) throw new Error("not claimed");
  return { stale, current };
}

test("a worker whose publish task was claimed by another worker cannot begin the publishing call of the task", async () => {
  await using database = await openDatabase();
  const { stale, current } = await claimTwice(database.sql);

  expect(await markCalls(database.sql, TASK_TABLE, [toMark(stale, "text")])).toEqual([]);
  expect(await markCalls(database.sql, TASK_TABLE, [toMark(current, "text")])).toHaveLength(1);
});

test("a call is not marked if another publish request of the target has begun its attempt, and the next claim takes the next number", async () => {
  await using database = await openDatabase();
  const { sql } = database;
  const target = new World().addTarget();
  await request(sql, target);
  const [stale] = await claim(sql);
  if (stale === undefined) throw new Error("not claimed");
  await sql`
    insert into publish_attempts (target_id, number, generation, workspace_id, account_id, fence, outcome)
    values (${target.targetId}, 1, 2, ${target.workspaceId}, ${target.accountId}, 1, 'failed')`;
  const marker = new CallMarker(sql, TASK_TABLE, nameClaim);
  expect(await marker.mark(toMark(stale, "text"))).toEqual({ kind: "unmarked", reason: "busy" });

  await expire(sql, target);
  const [current] = await claim(sql);
  if (current === undefined) throw new Error("not claimed");

  expect(await marker.mark(toMark(current, "text"))).toMatchObject({ kind: "marked" });
  expect(await sql`select number, generation from publish_attempts order by number`).toEqual([
    { number: 1, generation: 2 },
    { number: 2, generation: 1 },
  ]);
});

test("of handles that are stored together, only those of workers that still hold their tasks are stored", async () => {
  await using database = await openDatabase();
  const { stale, current } = await claimTwice(database.sql);
  const store = createHandleStore(database.sql);
  const handles = (rkey: string) => ({ rkey: { sealed: rkey } });

  const stored = await Promise.all([
    store.submit({ ...stale, handles: handles("of the stale worker") }),
    store.submit({ ...current, handles: handles("of the current worker") }),
  ]);

  expect(stored).toEqual([false, true]);
  expect(await database.sql`select handles from publish_tasks`).toEqual([
    { handles: handles("of the current worker") },
  ]);
});

test("a process that claims a publish task again whose lease it had lost interrupts only its earlier work on the task", async () => {
  await using database = await openDatabase();
  const { stale, current } = await claimTwice(database.sql);
  const { sql } = database;
  await using inWork = new LeasedTasks({ sql, leaseMs: 200, logger, onEnd: () => undefined });
  using first = inWork.lease(stale);
  using second = inWork.lease(current);

  await eventually(() => first.lost.aborted);
  expect(second.lost.aborted).toBe(false);
});

test("when two workers of one process hold the same publish task because its lease was lost, only the later one may begin the publishing call", async () => {
  await using database = await openDatabase();
  const { stale, current } = await claimTwice(database.sql);

  const marker = new CallMarker(database.sql, TASK_TABLE, nameClaim);
  const marks = [stale, current].map((task) => marker.mark(toMark(task, "text")));
  expect(await Promise.all(marks)).toEqual([
    { kind: "unmarked", reason: "lost" },
    { kind: "marked", callNumber: 1 },
  ]);
});

test("a publishing call whose account has another open call does not block other calls that begin in the same SQL statement", async () => {
  await using database = await openDatabase();
  const world = new World();
  const accountId = randomUUID();
  const blocked = world.addTarget({ accountId, text: "same" });
  const free = Array.from({ length: 5 }, () => world.addTarget());
  const blocker = world.addTarget({ accountId, text: "same" });
  await request(database.sql, blocker);
  const [task] = await claim(database.sql);
  if (task === undefined) throw new Error("not claimed");
  const hash = hashContent({ text: "same", title: undefined, mediaIds: [] });
  await markCalls(database.sql, TASK_TABLE, [toMark(task, hash)]);
  await database.sql`
    update publish_tasks
    set status = 'unknown', wake_at = now() + interval '1 hour'
    where target_id = ${blocker.targetId}`;
  await using _worker = startWorker(database, world);

  await request(database.sql, blocked, ...free);

  await eventually(async () => {
    const states = await Promise.all(free.map((target) => readTask(database.sql, target)));
    return states.every(({ status }) => status === "published");
  });
  expect(world.calls.map(({ targetId }) => targetId)).not.toContain(blocked.targetId);
});

test("a publish task is neither claimed nor sent while another publish request of its target may have published the post", async () => {
  await using database = await openDatabase();
  const world = new World();
  const target = world.addTarget();
  await request(database.sql, target);
  await database.sql`
    update publish_tasks
    set status = 'unknown', wake_at = now() + interval '1 hour'`;
  target.generation = 2;
  await request(database.sql, target);

  expect(await claim(database.sql)).toEqual([]);

  const held = { targetId: target.targetId, generation: 2, fence: 1 };
  await database.sql`
    update publish_tasks
    set status = 'working', fence = 1
    where generation = 2`;
  const mark = { ...held, callKey: "other", externalAccountId: "other", callMs: 60_000 };
  expect(await markCalls(database.sql, TASK_TABLE, [mark])).toEqual([]);
});
