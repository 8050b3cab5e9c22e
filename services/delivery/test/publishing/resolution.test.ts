import type { ServiceError } from "@postrider/shared/errors";
import { newId } from "@postrider/shared/ids";
import type { Sql } from "@postrider/shared/postgres";
import type { TestDatabase } from "@postrider/shared/testing/database";
import { expect, test } from "vitest";
import { createEventRecorder } from "#src/publishing/jobs/claim-tasks/event-recorder.ts";
import {
  createRpcClients,
  lastUpdate,
  listAttempts,
  listUpdates,
  openDatabase,
  publishingDeps,
  readTask,
  request,
  startWorker,
  World,
  type Reaction,
  type TestTarget,
  untilStatus,
  openStage,
} from "./fixture.ts";

const LINK = "https://x.com/sailor/status/1850000000000000001";
const INVALID = expect.objectContaining({ reason: "invalid_transition" }) as ServiceError;

async function resolve(sql: Sql, { targetId }: { targetId: string }, publishedUrl?: string) {
  const { tasks } = createRpcClients(sql);
  const { update } = await tasks.resolveTarget({
    targetId,
    ...(publishedUrl === undefined ? {} : { publishedUrl }),
  });
  return update;
}

/** Returns a target that failed with outcome_unknown. */
async function failUnknown(database: TestDatabase, world: World): Promise<TestTarget> {
  const target = world.addTarget();
  world.reactions = [() => ({ kind: "unknown", message: "reset" })];
  await using _worker = startWorker(database, world, { settings: { visibleCallMs: 200 } });
  await request(database.sql, target);
  await untilStatus(database.sql, target, "failed");
  expect(await readTask(database.sql, target)).toMatchObject({ errorCode: "outcome_unknown" });
  return target;
}

test("a target that an operator resolves with a link to its post is published under the post id in the link", async () => {
  await using database = await openDatabase();
  const { sql } = database;
  const target = await failUnknown(database, new World());
  const before = await lastUpdate(sql, target);

  const update = await resolve(sql, target, LINK);

  expect(update).toMatchObject({
    status: "published",
    externalId: "1850000000000000001",
    permalink: LINK,
    version: (before?.version ?? 0n) + 1n,
    attempt: { number: 1, outcome: "published" },
  });
  expect(update?.errorCode).toBeUndefined();
  expect(await lastUpdate(sql, target)).toEqual(update);
  await expect(resolve(sql, target, LINK)).rejects.toEqual(INVALID);
  await expect(resolve(sql, target)).rejects.toEqual(INVALID);
});

test("a target that an operator resolves with a link from which no post id can be read is published without a post id", async () => {
  await using database = await openDatabase();
  const target = await failUnknown(database, new World());

  const update = await resolve(database.sql, target, "https://elsewhere.example/post");

  expect(update).toMatchObject({
    status: "published",
    permalink: "https://elsewhere.example/post",
  });
  expect(update?.externalId).toBeUndefined();
});

test("a target that an operator resolves as absent from the platform fails, and is not sent before the user retries it", async () => {
  await using database = await openStage();
  const { sql, world } = database;
  const target = await failUnknown(database, world);

  const update = await resolve(sql, target);

  expect(update).toMatchObject({
    status: "failed",
    errorCode: "platform_unavailable",
    errorRetryable: true,
    attempt: { number: 1, outcome: "failed", code: "platform_unavailable" },
  });
  expect(await lastUpdate(sql, target)).toEqual(update);
  await expect(resolve(sql, target)).rejects.toEqual(INVALID);

  await using _worker = startWorker(database, world);
  const other = world.addTarget();
  await request(sql, other);
  await untilStatus(sql, other, "published");
  expect(world.calls).toHaveLength(2);
  target.generation = 2;
  await request(sql, target);
  await untilStatus(sql, target, "published");
  expect(await listAttempts(sql, target)).toMatchObject([
    { number: 1, outcome: "failed" },
    { number: 2, outcome: "published" },
  ]);
});

test("a target that an operator resolved as absent from the platform becomes published when the platform's success becomes known", async () => {
  await using database = await openStage();
  const { sql, world } = database;
  const target = await failUnknown(database, world);
  await resolve(sql, target);

  await createEventRecorder(publishingDeps(world, sql)).record({
    targetId: target.targetId,
    generation: 1,
    attemptNumber: 1,
    kind: "called",
    callNumber: 1,
    outcome: { kind: "published", externalId: "late", permalink: null },
  });

  expect(await lastUpdate(sql, target)).toMatchObject({ status: "published", externalId: "late" });
});

test("when an operator resolves a target with a link while the platform is still being searched for the post, the result of the search is ignored", async () => {
  await using database = await openStage();
  const { sql, world } = database;
  const target = world.addTarget();
  const look = Promise.withResolvers<{ kind: "absent" }>();
  world.reactions = [() => ({ kind: "unknown", message: "reset" })];
  world.verdicts = [() => look.promise];
  await using _worker = startWorker(database, world, { settings: { visibleCallMs: 200 } });
  await request(sql, target);
  await untilStatus(sql, target, "reconciling");

  await resolve(sql, target, LINK);
  look.resolve({ kind: "absent" });

  const other = world.addTarget({ accountId: target.accountId });
  await request(sql, other);
  await untilStatus(sql, other, "published");
  expect(await readTask(sql, target)).toMatchObject({ status: "published" });
  expect(world.calls).toHaveLength(2);
});

test("an operator cannot resolve a target as absent from the platform before call_until, the deadline of its publishing call", async () => {
  await using database = await openStage();
  const { sql, world } = database;
  const target = world.addTarget();
  world.reactions = [() => ({ kind: "unknown", message: "reset" })];
  await using _worker = startWorker(database, world, { settings: { visibleCallMs: 60_000 } });
  await request(sql, target);
  await untilStatus(sql, target, "unknown");

  await expect(resolve(sql, target)).rejects.toEqual(INVALID);
  expect(await resolve(sql, target, LINK)).toMatchObject({ status: "published" });
});

test("when two operators resolve a target at once, only one of them succeeds and the result is reported once", async () => {
  await using database = await openDatabase();
  const { sql } = database;
  const target = await failUnknown(database, new World());
  const before = (await listUpdates(sql, target)).length;

  const words = await Promise.allSettled([resolve(sql, target), resolve(sql, target, LINK)]);

  expect(words.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  expect(await listUpdates(sql, target)).toHaveLength(before + 1);
});

test.each(["queued", "published", "failed"])(
  "a target whose publish task has the status %s cannot be resolved by an operator",
  async (status) => {
    await using database = await openDatabase();
    const { sql } = database;
    const target = new World().addTarget();
    await request(sql, target);
    await sql`update publish_tasks set status = ${status}, error_code = 'content_rejected'`;

    await expect(resolve(sql, target)).rejects.toEqual(INVALID);
    await expect(resolve(sql, target, LINK)).rejects.toEqual(INVALID);
  },
);

const DUPLICATE: Reaction = () => ({
  kind: "refused",
  code: "duplicate_on_platform",
  message: "Status is a duplicate.",
});

/** Returns a target whose platform refused it because the account has the post already. */
async function failDuplicate(database: TestDatabase, world: World): Promise<TestTarget> {
  const target = world.addTarget();
  world.reactions = [DUPLICATE];
  await using _worker = startWorker(database, world, { settings: { visibleCallMs: 60_000 } });
  await request(database.sql, target);
  await untilStatus(database.sql, target, "failed");
  return target;
}

/** The platform's answer belongs to the attempt, whatever a person says afterwards. */
const REFUSED = [{ number: 1, outcome: "failed", code: "duplicate_on_platform" }];

test("a target that its platform refused as a duplicate is published when a person gives the link of the post, and is not sent again", async () => {
  await using database = await openStage();
  const { sql, world } = database;
  const target = await failDuplicate(database, world);

  const update = await resolve(sql, target, LINK);

  expect(update).toMatchObject({
    status: "published",
    externalId: "1850000000000000001",
    permalink: LINK,
  });
  expect(update?.errorCode).toBeUndefined();
  expect(await lastUpdate(sql, target)).toMatchObject({ status: "published", permalink: LINK });
  expect(await listAttempts(sql, target)).toMatchObject(REFUSED);
  await expect(resolve(sql, target)).rejects.toEqual(INVALID);

  // A retry that the posts service accepted before it learned of the statement.
  await using _worker = startWorker(database, world);
  target.generation = 2;
  await request(sql, target);
  await untilStatus(sql, target, "dropped");
  expect(world.calls).toHaveLength(1);
});

test("a target that its platform refused as a duplicate can be retried at once when a person finds that the post is absent", async () => {
  await using database = await openStage();
  const { sql, world } = database;
  const target = await failDuplicate(database, world);

  expect(await resolve(sql, target)).toMatchObject({
    status: "failed",
    errorCode: "platform_unavailable",
    errorRetryable: true,
  });
  expect(await listAttempts(sql, target)).toMatchObject(REFUSED);
  await expect(resolve(sql, target)).rejects.toEqual(INVALID);

  await using _worker = startWorker(database, world);
  target.generation = 2;
  await request(sql, target);
  await untilStatus(sql, target, "published");
  expect(world.calls).toHaveLength(2);
});

test("a target that its platform refused as a duplicate cannot be resolved after its retry was requested", async () => {
  await using database = await openDatabase();
  const { sql } = database;
  const target = await failDuplicate(database, new World());
  target.generation = 2;
  await request(sql, target);

  await expect(resolve(sql, target, LINK)).rejects.toEqual(INVALID);
  await expect(resolve(sql, target)).rejects.toEqual(INVALID);
});

test("when two people resolve a target that its platform refused as a duplicate at once, only one of them succeeds", async () => {
  await using database = await openDatabase();
  const { sql } = database;
  const target = await failDuplicate(database, new World());
  const before = (await listUpdates(sql, target)).length;

  const words = await Promise.allSettled([resolve(sql, target), resolve(sql, target, LINK)]);

  expect(words.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  expect(await listUpdates(sql, target)).toHaveLength(before + 1);
});

test("a duplicate cannot be resolved with a link while another target with the same content is searched for, whose post it may be", async () => {
  await using database = await openStage();
  const { sql, world } = database;
  const target = await failDuplicate(database, world);
  const other = world.addTarget({ accountId: target.accountId, text: target.text });
  world.reactions = [() => ({ kind: "unknown", message: "reset" })];
  await using _worker = startWorker(database, world, { settings: { visibleCallMs: 60_000 } });
  await request(sql, other);
  await untilStatus(sql, other, "unknown");

  await expect(resolve(sql, target, LINK)).rejects.toEqual(INVALID);
  expect(await resolve(sql, other, LINK)).toMatchObject({ status: "published" });
  expect(await resolve(sql, target, LINK)).toMatchObject({ status: "published" });
});

test("what a person saw before a later attempt does not resolve that attempt, which may have published the post", async () => {
  await using database = await openDatabase();
  const { sql } = database;
  const target = await failUnknown(database, new World());
  const { attemptCount = 0 } = (await lastUpdate(sql, target)) ?? {};
  const { tasks } = createRpcClients(sql);
  const { targetId } = target;

  const stale = { targetId, attemptCount: attemptCount - 1 };
  await expect(tasks.resolveTarget(stale)).rejects.toEqual(INVALID);

  const { update } = await tasks.resolveTarget({ targetId, attemptCount });
  expect(update).toMatchObject({ status: "failed", errorRetryable: true });
});

test("ResolveTarget refuses an unknown target and a malformed link", async () => {
  await using database = await openDatabase();
  const { sql } = database;
  const missing = expect.objectContaining({ reason: "not_found" }) as ServiceError;

  await expect(resolve(sql, { targetId: newId() })).rejects.toEqual(missing);
  await expect(resolve(sql, { targetId: "no id" })).rejects.toEqual(missing);
  for (const link of ["", "x.com/sailor", "javascript:alert(1)"])
    await expect(resolve(sql, { targetId: newId() }, link)).rejects.toEqual(
      expect.objectContaining({ reason: "invalid_request" }),
    );
});
