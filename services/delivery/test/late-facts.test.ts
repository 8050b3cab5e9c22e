import type { Outcome } from "@postrider/platforms/publishing/outcome";
import type { TestDatabase } from "@postrider/shared/testing/database";
import { eventually } from "@postrider/shared/testing/poll";
import { expect, test } from "vitest";
import { Recorder } from "#src/publishing/jobs/publishing/recorder.ts";
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
} from "./fixture.ts";

const QUICK = { visibleCallMs: 250, leaseMs: 1_000 };
const never = new Promise<never>(() => undefined);

/** The first call of the target goes out from a process that then stands still, so its outcome comes late. */
async function losePatience(database: TestDatabase, world: World, target: TestTarget) {
  world.reactions = [() => never];
  const stopped = startWorker(database, world, { settings: QUICK });
  await request(database.sql, target);
  await eventually(() => world.calls.length === 1);
  await stopped.crash();
}

/** The process goes on, and says what came of its first call. */
async function say(database: TestDatabase, world: World, target: TestTarget, outcome: Outcome) {
  const recorder = new Recorder(publishingDeps(world, database.sql));
  await recorder.record({
    targetId: target.targetId,
    generation: 1,
    attemptNumber: 1,
    happening: { kind: "called", callNumber: 1, outcome },
  });
}

async function failUnknown(database: TestDatabase, world: World, target: TestTarget) {
  await losePatience(database, world, target);
  {
    await using _worker = startWorker(database, world, { settings: QUICK });
    await eventually(async () => (await readTask(database.sql, target)).status === "failed");
  }
  expect(await readTask(database.sql, target)).toMatchObject({ errorCode: "outcome_unknown" });
}

test("a late success is adopted by a target that had failed with outcome_unknown", async () => {
  await using database = await openDatabase();
  const world = new World();
  const target = world.addTarget();
  await failUnknown(database, world, target);

  const late = { kind: "published", externalId: "late", permalink: null } as const;
  await say(database, world, target, late);
  await say(database, world, target, late);

  expect(await lastUpdate(database.sql, target)).toMatchObject({
    status: "published",
    externalId: "late",
    attempt: { number: 1, outcome: "published" },
  });
  expect(await listAttempts(database.sql, target)).toMatchObject([
    { number: 1, outcome: "published", externalId: "late" },
  ]);
});

test("a late word that nothing was sent lets the target go on in the same generation", async () => {
  await using database = await openDatabase();
  const world = new World();
  const target = world.addTarget();
  await failUnknown(database, world, target);

  await say(database, world, target, { kind: "not_sent" });

  expect(await lastUpdate(database.sql, target)).toMatchObject({ status: "publishing" });
  await database.sql`update publish_tasks set wake_at = now()`;
  await using _worker = startWorker(database, world, { settings: QUICK });
  await eventually(async () => (await readTask(database.sql, target)).status === "published");
  expect(world.visible).toHaveLength(1);
  expect(await listAttempts(database.sql, target)).toMatchObject([
    { number: 1, outcome: "retry" },
    { number: 2, outcome: "published" },
  ]);
});

test("a late refusal says more than outcome_unknown", async () => {
  await using database = await openDatabase();
  const world = new World();
  const target = world.addTarget();
  await failUnknown(database, world, target);

  await say(database, world, target, { kind: "refused", code: "permission_missing", message: "" });

  expect(await lastUpdate(database.sql, target)).toMatchObject({
    status: "failed",
    errorCode: "permission_missing",
  });
});

test("a late failure that may pass counts as one try", async () => {
  await using database = await openDatabase();
  const world = new World();
  const target = world.addTarget();
  await failUnknown(database, world, target);

  await say(database, world, target, {
    kind: "retryable",
    code: "platform_unavailable",
    message: "",
  });

  expect(await readTask(database.sql, target)).toMatchObject({
    status: "queued",
    errorCode: "platform_unavailable",
  });
});

test("a late word about an older call changes nothing", async () => {
  await using database = await openDatabase();
  const world = new World();
  const target = world.addTarget();
  await losePatience(database, world, target);
  world.verdicts = [() => ({ kind: "absent" })];
  world.reactions = [() => ({ kind: "refused", code: "content_rejected", message: "" })];
  await using _worker = startWorker(database, world, { settings: QUICK });
  await eventually(async () => (await readTask(database.sql, target)).status === "failed");
  const before = await readTask(database.sql, target);

  await say(database, world, target, { kind: "not_sent" });
  await say(database, world, target, { kind: "unknown", message: "" });

  expect(await readTask(database.sql, target)).toEqual(before);
});

test("a second success keeps both ids and shows duplicate_detected", async () => {
  await using database = await openDatabase();
  const world = new World();
  const target = world.addTarget();
  await losePatience(database, world, target);
  world.verdicts = [() => ({ kind: "absent" })];
  await using _worker = startWorker(database, world, { settings: QUICK });
  await eventually(async () => (await readTask(database.sql, target)).status === "published");

  await say(database, world, target, { kind: "published", externalId: "late", permalink: null });

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

test("a late success of an older generation makes the newer one superfluous", async () => {
  await using database = await openDatabase();
  const world = new World();
  const target = world.addTarget();
  await failUnknown(database, world, target);
  target.generation = 2;
  await request(database.sql, target);

  await say(database, world, target, { kind: "published", externalId: "late", permalink: null });

  expect((await readTask(database.sql, target, 2)).status).toBe("dropped");
  expect(await lastUpdate(database.sql, target)).toMatchObject({
    generation: 1,
    status: "published",
  });
  // The request once more, as the sweep repeats it, publishes nothing.
  await request(database.sql, target);
  expect((await readTask(database.sql, target, 2)).status).toBe("dropped");
});

test("a late word that nothing was sent does not bring back a generation that has been replaced", async () => {
  await using database = await openDatabase();
  const world = new World();
  const target = world.addTarget();
  await failUnknown(database, world, target);
  target.generation = 2;
  await request(database.sql, target);

  await say(database, world, target, { kind: "not_sent" });

  expect((await readTask(database.sql, target, 1)).status).toBe("failed");
  expect((await readTask(database.sql, target, 2)).status).toBe("queued");
});
