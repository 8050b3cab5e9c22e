import type { Outcome } from "@postrider/platforms/publishing/outcome";
import type { TestDatabase } from "@postrider/shared/testing/database";
import { eventually } from "@postrider/shared/testing/poll";
import { expect, test } from "vitest";
import { EventRecorder } from "#src/publishing/operations/event-recorder.ts";
import {
  lastUpdate,
  listAttempts,
  openDatabase,
  publishingDeps,
  readTask,
  request,
  startWorker,
  World,
  type TestTarget,
  untilStatus,
} from "./fixture.ts";

const QUICK = { visibleCallMs: 250, leaseMs: 1_000 };
const never = new Promise<never>(() => undefined);

/** Sends the first publishing call of the target from a process that is then suspended, so that its outcome arrives late. */
async function loseFirstCall(database: TestDatabase, world: World, target: TestTarget) {
  world.reactions = [() => never];
  const stopped = startWorker(database, world, { settings: QUICK });
  await request(database.sql, target);
  await eventually(() => world.calls.length === 1);
  await stopped.crash();
}

/** The suspended process continues and records the outcome of its call. */
async function recordLate(
  database: TestDatabase,
  world: World,
  target: TestTarget,
  outcome: Outcome,
) {
  const recorder = new EventRecorder(publishingDeps(world, database.sql));
  await recorder.record({
    targetId: target.targetId,
    generation: 1,
    attemptNumber: 1,
    kind: "called",
    callNumber: 1,
    outcome,
  });
}

async function failUnknown(database: TestDatabase, world: World, target: TestTarget) {
  await loseFirstCall(database, world, target);
  {
    await using _worker = startWorker(database, world, { settings: QUICK });
    await untilStatus(database.sql, target, "failed");
  }
  expect(await readTask(database.sql, target)).toMatchObject({ errorCode: "outcome_unknown" });
}

test("a late success publishes a target that failed with outcome_unknown", async () => {
  await using database = await openDatabase();
  const world = new World();
  const target = world.addTarget();
  await failUnknown(database, world, target);

  const late = { kind: "published", externalId: "late", permalink: null } as const;
  await recordLate(database, world, target, late);
  await recordLate(database, world, target, late);

  expect(await lastUpdate(database.sql, target)).toMatchObject({
    status: "published",
    externalId: "late",
    attempt: { number: 1, outcome: "published" },
  });
  expect(await listAttempts(database.sql, target)).toMatchObject([
    { number: 1, outcome: "published", externalId: "late" },
  ]);
});

test("a late report that a call was not sent queues the target again in the same generation", async () => {
  await using database = await openDatabase();
  const world = new World();
  const target = world.addTarget();
  await failUnknown(database, world, target);

  await recordLate(database, world, target, { kind: "not_sent" });

  expect(await lastUpdate(database.sql, target)).toMatchObject({ status: "publishing" });
  await database.sql`update publish_tasks set wake_at = now()`;
  await using _worker = startWorker(database, world, { settings: QUICK });
  await untilStatus(database.sql, target, "published");
  expect(world.visible).toHaveLength(1);
  expect(await listAttempts(database.sql, target)).toMatchObject([
    { number: 1, outcome: "retry" },
    { number: 2, outcome: "published" },
  ]);
});

test("a late refusal replaces outcome_unknown by the code of the refusal", async () => {
  await using database = await openDatabase();
  const world = new World();
  const target = world.addTarget();
  await failUnknown(database, world, target);

  await recordLate(database, world, target, {
    kind: "refused",
    code: "permission_missing",
    message: "",
  });

  expect(await lastUpdate(database.sql, target)).toMatchObject({
    status: "failed",
    errorCode: "permission_missing",
  });
});

test("a late retryable failure counts as one retry", async () => {
  await using database = await openDatabase();
  const world = new World();
  const target = world.addTarget();
  await failUnknown(database, world, target);

  await recordLate(database, world, target, {
    kind: "retryable",
    code: "platform_unavailable",
    message: "",
  });

  expect(await readTask(database.sql, target)).toMatchObject({
    status: "queued",
    errorCode: "platform_unavailable",
  });
});

test("a late outcome of an older call does not change the target", async () => {
  await using database = await openDatabase();
  const world = new World();
  const target = world.addTarget();
  await loseFirstCall(database, world, target);
  world.verdicts = [() => ({ kind: "absent" })];
  world.reactions = [() => ({ kind: "refused", code: "content_rejected", message: "" })];
  await using _worker = startWorker(database, world, { settings: QUICK });
  await untilStatus(database.sql, target, "failed");
  const before = await readTask(database.sql, target);

  await recordLate(database, world, target, { kind: "not_sent" });
  await recordLate(database, world, target, { kind: "unknown", message: "" });

  expect(await readTask(database.sql, target)).toEqual(before);
});

test("a second success stores both platform ids and marks the target as duplicate_detected", async () => {
  await using database = await openDatabase();
  const world = new World();
  const target = world.addTarget();
  await loseFirstCall(database, world, target);
  world.verdicts = [() => ({ kind: "absent" })];
  await using _worker = startWorker(database, world, { settings: QUICK });
  await untilStatus(database.sql, target, "published");

  await recordLate(database, world, target, {
    kind: "published",
    externalId: "late",
    permalink: null,
  });

  expect(await lastUpdate(database.sql, target)).toMatchObject({
    status: "published",
    externalId: "id-1",
    errorCode: "duplicate_detected",
    errorRetryable: false,
  });
  expect((await listAttempts(database.sql, target)).map(({ externalId }) => externalId)).toEqual([
    "late",
    "id-1",
  ]);
});

test("a late success of an older generation drops the newer generation", async () => {
  await using database = await openDatabase();
  const world = new World();
  const target = world.addTarget();
  await failUnknown(database, world, target);
  target.generation = 2;
  await request(database.sql, target);

  await recordLate(database, world, target, {
    kind: "published",
    externalId: "late",
    permalink: null,
  });

  expect((await readTask(database.sql, target, 2)).status).toBe("dropped");
  expect(await lastUpdate(database.sql, target)).toMatchObject({
    generation: 1,
    status: "published",
  });
  // The sweep repeats the publish request, which publishes nothing.
  await request(database.sql, target);
  expect((await readTask(database.sql, target, 2)).status).toBe("dropped");
});

test("a late report that a call was not sent does not queue a replaced generation again", async () => {
  await using database = await openDatabase();
  const world = new World();
  const target = world.addTarget();
  await failUnknown(database, world, target);
  target.generation = 2;
  await request(database.sql, target);

  await recordLate(database, world, target, { kind: "not_sent" });

  expect((await readTask(database.sql, target, 1)).status).toBe("failed");
  expect((await readTask(database.sql, target, 2)).status).toBe("queued");
});
