import { randomUUID } from "node:crypto";
import type { Sql } from "@postrider/shared/postgres";
import { expect, test } from "vitest";
import { delayAccounts } from "#src/publishing/db/account-breakers.ts";
import { countTasks } from "#src/publishing/db/task-counts.ts";
import { deletePause, insertPause } from "#src/publishing/db/waits.ts";
import { claim } from "./claim.ts";
import { openDatabase, request, World, type TestTarget, openStage } from "./fixture.ts";

const LONG_AGO = new Date("2026-01-05T09:00:00.000Z");
const LATER = new Date("2026-01-05T10:00:00.000Z");

/** Sets the time since which a publish task has been ready to be claimed. */
async function wakeAt(sql: Sql, { targetId }: TestTarget, at: Date) {
  await sql`
    update publish_tasks
    set wake_at = ${at.toISOString()}
    where target_id = ${targetId}`;
}

/** Requests two publish tasks of two accounts. The first task has been waiting for longer. */
async function requestTwo(sql: Sql) {
  const world = new World();
  const [first, second] = [world.addTarget(), world.addTarget()] as const;
  await request(sql, first, second);
  await wakeAt(sql, first, LONG_AGO);
  await wakeAt(sql, second, LATER);
  return { world, first, second };
}

/**
 * Reads the task counts of platform X by state, and the time since which its oldest claimable task
 * has been waiting.
 */
async function read(sql: Sql) {
  const counts = await countTasks(sql);
  return {
    states: Object.fromEntries(counts.map(({ state, count }) => [state, count])),
    since: counts.find(({ state }) => state === "due")?.claimableSince ?? null,
  };
}

test("the reported waiting time of the publish tasks is that of the claimable task that became ready first", async () => {
  await using database = await openDatabase();
  await requestTwo(database.sql);

  expect(await read(database.sql)).toEqual({ states: { due: 2 }, since: LONG_AGO });
});

test("publish tasks of an account that waits for a rate limit or after failures do not count as overdue", async () => {
  await using database = await openDatabase();
  const { first } = await requestTwo(database.sql);
  const delay = (until: Date) =>
    database.sql.begin((tx) => delayAccounts(tx, [{ ...first, until }]));

  await delay(new Date(Date.now() - 1_000));
  expect(await read(database.sql)).toEqual({ states: { due: 2 }, since: LONG_AGO });

  await delay(new Date(Date.now() + 60_000));
  expect(await read(database.sql)).toEqual({ states: { due: 1, gated: 1 }, since: LATER });
});

test.each([
  ["account", (target: TestTarget) => target.accountId],
  ["workspace", (target: TestTarget) => target.workspaceId],
] as const)(
  "publish tasks that an operator's pause of one %s stops do not count as overdue",
  async (kind, keyOf) => {
    await using database = await openDatabase();
    const { first } = await requestTwo(database.sql);

    await insertPause(database.sql, kind, keyOf(first));
    expect(await read(database.sql)).toEqual({ states: { due: 1, paused: 1 }, since: LATER });

    await deletePause(database.sql, kind, keyOf(first));
    expect(await read(database.sql)).toEqual({ states: { due: 2 }, since: LONG_AGO });
  },
);

test("publish tasks of a platform that an operator paused count as paused, even when a limit also holds back their account", async () => {
  await using database = await openDatabase();
  const { first } = await requestTwo(database.sql);
  const until = new Date(Date.now() + 60_000);
  await database.sql.begin((tx) => delayAccounts(tx, [{ ...first, until }]));

  await insertPause(database.sql, "platform", "x");

  expect(await read(database.sql)).toEqual({ states: { paused: 2 }, since: null });
});

test("a publish task does not count as overdue while another task of its account is being worked on", async () => {
  await using database = await openStage();
  const { sql, world } = database;
  const accountId = randomUUID();
  const crowd = Array.from({ length: 200 }, () => world.addTarget({ accountId }));
  await request(sql, ...crowd);
  await sql`update publish_tasks set wake_at = ${LONG_AGO.toISOString()}`;
  expect(await read(sql)).toEqual({ states: { due: 200 }, since: LONG_AGO });

  const [taken] = await claim(sql);
  expect(await read(sql)).toEqual({ states: { due: 199, working: 1 }, since: null });

  // The worker of the claimed task died, so no task of the account is in work any more.
  await sql`
    update publish_tasks
    set wake_at = now()
    where target_id = ${taken?.targetId ?? ""}`;
  expect(await read(sql)).toEqual({ states: { due: 199, working: 1 }, since: LONG_AGO });
});

test("a publish task that waits for the outcome of an older publish request of its target does not count as overdue", async () => {
  await using database = await openDatabase();
  const { sql } = database;
  const { first } = await requestTwo(sql);
  await sql`update publish_tasks set status = 'unknown' where target_id = ${first.targetId}`;
  first.generation = 2;
  await request(sql, first);
  await wakeAt(sql, first, LONG_AGO);

  expect(await read(sql)).toEqual({ states: { due: 2, unknown: 1 }, since: LATER });
});

test("the publish tasks that count as overdue are exactly those that a worker would claim", async () => {
  await using database = await openDatabase();
  const { sql } = database;
  const { world, first, second } = await requestTwo(sql);
  const third = world.addTarget();
  await request(sql, third);
  await insertPause(sql, "account", first.accountId);
  expect((await read(sql)).since).toEqual(LATER);

  const taken = await claim(sql, { limit: 1 });

  expect(taken.map(({ targetId }) => targetId)).toEqual([second.targetId]);
});
