import { randomUUID } from "node:crypto";
import type { Sql, TransactionSql } from "@postrider/shared/postgres";
import type { TestDatabase } from "@postrider/shared/testing/database";
import { afterEach, beforeEach, expect, test } from "vitest";
import { listLostCalls } from "#src/calls/marks.ts";
import { delayAccounts } from "#src/publishing/db/account-breakers.ts";
import { cancelTasks } from "#src/publishing/db/cancellations.ts";
import { claimTasks } from "#src/publishing/db/claims.ts";
import { claimDeletions, findNextDeletion } from "#src/publishing/db/deletion-claims.ts";
import { claimQuestions, findNextQuestion } from "#src/publishing/db/detail-questions.ts";
import { findNextTask } from "#src/publishing/db/next-task.ts";
import { closeBreakers } from "#src/publishing/db/platform-breakers.ts";
import type { TaskFloors } from "#src/publishing/db/task-floors.ts";
import { TASK_TABLE } from "#src/publishing/db/task-table.ts";
import { insertRequests } from "#src/publishing/db/tasks.ts";
import { deletePause, insertPause } from "#src/publishing/db/waits.ts";
import { CLAIM } from "./claim.ts";
import { openDatabase, World } from "./fixture.ts";

const PLATFORMS = ["x"];
const ENDED = 10_000;

let database: TestDatabase;
let sql: Sql;

beforeEach(async () => {
  database = await openDatabase();
  ({ sql } = database);
});

afterEach(() => database[Symbol.asyncDispose]());

/** Runs `work` while another transaction holds a snapshot, as a backup of the database does. */
async function duringBackup(work: () => Promise<void>): Promise<void> {
  await database.ownerSql.begin("isolation level repeatable read", async (backup) => {
    await backup`select 1`;
    await work();
  });
}

/** Returns how many pages of tables and indexes the transaction has read so far. */
async function readPages(tx: TransactionSql): Promise<number> {
  const [row] = await tx<{ pages: number }[]>`
    select sum(pg_stat_get_xact_blocks_fetched(oid))::int as pages
    from pg_class
    where relnamespace = 'delivery'::regnamespace`;
  return row?.pages ?? 0;
}

/** Returns the number of pages of tables and indexes that a search for due work reads. */
async function countPages(poll: (tx: TransactionSql) => Promise<unknown>): Promise<number> {
  return await sql.begin(async (tx) => {
    const before = await readPages(tx);
    await poll(tx);
    return (await readPages(tx)) - before;
  });
}

const claimFrom = (tx: TransactionSql, floors: TaskFloors | null) =>
  claimTasks(tx, { ...CLAIM, floors });

/** Inserts a publish task that has been due for an hour, and returns its account. */
async function insertOldTask(accountId: string = randomUUID()) {
  const targetId = randomUUID();
  await sql`
    insert into publish_tasks (target_id, generation, workspace_id, post_id, account_id, platform, status, wake_at, due_at,
      publish_before)
    values (${targetId}, 1, gen_random_uuid(), gen_random_uuid(), ${accountId}, 'x', 'queued', now() - interval '1 hour',
      now() - interval '1 hour', now() + interval '1 day')`;
  await sql`update account_queues set publish_at = now() - interval '1 hour'`;
  return { targetId, accountId };
}

/**
 * Inserts publish tasks that were due an hour ago and changes their status until they are
 * published. Updates their task queues, too.
 */
async function publishTasks(): Promise<void> {
  // The triggers would write times of the last minute to the queues, and every search reads these
  // times. So the test disables the triggers.
  await database.migrationSql`alter table publish_tasks disable trigger user`;
  await sql`
    insert into publish_tasks (target_id, generation, workspace_id, post_id, account_id, platform, status, wake_at, due_at,
      publish_before)
    select gen_random_uuid(), 1, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'x', 'working',
      now() - interval '1 hour', now(), now() + interval '1 day'
    from generate_series(1, ${ENDED}::int)`;
  for (const status of ["calling", "published"])
    await sql`update publish_tasks set status = ${status}, wake_at = wake_at + interval '1 second'`;
  await sql`
    insert into account_queues (account_id, workspace_id, platform, publish_at, look_at)
    select account_id, workspace_id, platform, wake_at, wake_at
    from publish_tasks`;
  await sql`update account_queues set publish_at = null, look_at = null`;
}

test("the repeated searches for due publish tasks do not read the tasks that were published during a backup of the database", async () => {
  await duringBackup(async () => {
    await publishTasks();
    const { floors } = await findNextTask(sql, PLATFORMS, null);
    const polls = {
      "next task": (from: TaskFloors | null) => (tx: TransactionSql) =>
        findNextTask(tx, PLATFORMS, from),
      claim: (from: TaskFloors | null) => (tx: TransactionSql) => claimFrom(tx, from),
      "lost calls": (from: TaskFloors | null) => (tx: TransactionSql) =>
        listLostCalls(tx, TASK_TABLE, 100, from?.inWork ?? null),
    };
    for (const [name, poll] of Object.entries(polls)) {
      expect(await countPages(poll(null)), name).toBeGreaterThan(100);
      // To plan a statement, Postgres reads the ends of the indexes that it may use.
      expect(await countPages(poll(floors)), name).toBeLessThan(75);
    }
  });
});

test("the repeated searches for due deletions do not read the targets that were deleted during a backup of the database", async () => {
  await duringBackup(async () => {
    // The trigger would write times of the last minute, which every search reads.
    await sql`
      insert into deletion_queues (account_id, workspace_id, platform, wake_at)
      select gen_random_uuid(), gen_random_uuid(), 'x', now() - interval '1 hour'
      from generate_series(1, ${ENDED}::int)`;
    await sql`update deletion_queues set wake_at = null`;
    const { floor } = await findNextDeletion(sql, null);
    const claim = (since: Date | null) => (tx: TransactionSql) =>
      claimDeletions(tx, { ...CLAIM, since });

    expect(await countPages((tx) => findNextDeletion(tx, null))).toBeGreaterThan(100);
    expect(await countPages((tx) => findNextDeletion(tx, floor))).toBeLessThan(50);
    expect(await countPages(claim(null))).toBeGreaterThan(100);
    expect(await countPages(claim(floor))).toBeLessThan(50);
  });
});

test("the repeated searches for post ids to request from platforms do not read the requests that were answered during a backup of the database", async () => {
  await duringBackup(async () => {
    await sql`
      insert into detail_questions (target_id, generation, workspace_id, account_id, platform, handles, wake_at)
      select gen_random_uuid(), 1, gen_random_uuid(), gen_random_uuid(), 'x', '{}', now() - interval '1 hour'
      from generate_series(1, ${ENDED}::int)`;
    await sql`delete from detail_questions`;
    const { floor } = await findNextQuestion(sql, null);
    const claim = (since: Date) => (tx: TransactionSql) => claimQuestions(tx, { ...CLAIM, since });

    expect(await countPages((tx) => findNextQuestion(tx, null))).toBeGreaterThan(100);
    expect(await countPages((tx) => findNextQuestion(tx, floor))).toBeLessThan(50);
    expect(await countPages(claim(new Date(0)))).toBeGreaterThan(100);
    expect(await countPages(claim(floor))).toBeLessThan(50);
  });
});

test("searches that leave out earlier due times find a task, a deletion and a post id to request that a slow transaction commits late", async () => {
  const target = new World().addTarget({ dueAt: new Date() });
  const hasWritten = Promise.withResolvers<void>();
  const mayCommit = Promise.withResolvers<void>();
  const late = sql.begin(async (tx) => {
    await insertRequests(tx, [target]);
    await tx`
      insert into deletion_tasks (target_id, deletion, workspace_id, post_id, account_id, platform, external_id, status, wake_at)
      values (gen_random_uuid(), 1, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'x', '1', 'queued', now())`;
    await tx`
      insert into detail_questions (target_id, generation, workspace_id, account_id, platform, handles, wake_at)
      values (gen_random_uuid(), 1, gen_random_uuid(), gen_random_uuid(), 'x', '{}', now())`;
    hasWritten.resolve();
    await mayCommit.promise;
  });
  await hasWritten.promise;
  const { floors } = await findNextTask(sql, PLATFORMS, null);
  const { floor: deletions } = await findNextDeletion(sql, null);
  const { floor: questions } = await findNextQuestion(sql, null);
  mayCommit.resolve();
  await late;

  const next = await findNextTask(sql, PLATFORMS, floors);
  expect(next.waitMs).toBeLessThanOrEqual(0);
  expect((await findNextDeletion(sql, deletions)).waitMs).toBeLessThanOrEqual(0);
  expect((await findNextQuestion(sql, questions)).waitMs).toBeLessThanOrEqual(0);
  const { tasks } = await sql.begin((tx) => claimFrom(tx, next.floors));
  expect(tasks).toMatchObject([{ targetId: target.targetId }]);
});

test("the search for due tasks, which starts at its search floor, finds the second task of an account after the account's first task was cancelled", async () => {
  const { accountId, targetId } = await insertOldTask();
  const other = await insertOldTask(accountId);
  const until = new Date(Date.now() + 3_600_000);
  await sql.begin((tx) => delayAccounts(tx, [{ accountId, workspaceId: randomUUID(), until }]));
  await sql.begin((tx) => claimFrom(tx, null));
  const { floors, waitMs } = await findNextTask(sql, PLATFORMS, null);
  expect(waitMs).toBeGreaterThan(3_000_000);
  await sql.begin((tx) => cancelTasks(tx, [{ targetId, generation: 1 }]));
  await sql`delete from account_breakers`;

  const next = await findNextTask(sql, PLATFORMS, floors);
  expect(next.waitMs).toBeLessThanOrEqual(0);
  const { tasks } = await sql.begin((tx) => claimFrom(tx, next.floors));
  expect(tasks).toMatchObject([{ targetId: other.targetId }]);
});

test("searches leave out earlier due times even while an account is paused, and the first search after the pause finds its queue", async () => {
  const { accountId, targetId } = await insertOldTask();
  await insertPause(sql, "account", accountId);
  const { floors, waitMs } = await findNextTask(sql, PLATFORMS, null);
  expect(waitMs).toBeNull();
  const [queue] = floors.queues;
  expect(Date.now() - Date.parse(queue?.publish ?? "")).toBeLessThan(300_000);
  await deletePause(sql, "account", accountId);

  const next = await findNextTask(sql, PLATFORMS, floors);
  expect(next.waitMs).toBeLessThanOrEqual(0);
  const { tasks } = await sql.begin((tx) => claimFrom(tx, next.floors));
  expect(tasks).toMatchObject([{ targetId }]);
});

test("a search that leaves out earlier due times finds the queues of a platform when publishing to the platform is no longer held back", async () => {
  const { targetId } = await insertOldTask();
  const before = await findNextTask(sql, PLATFORMS, null);
  await sql`insert into platform_breakers (platform, held_since, probe_at) values ('x', now(), now() + interval '1 hour')`;
  const held = await findNextTask(sql, PLATFORMS, before.floors);
  expect(held.waitMs).toBeNull();
  await closeBreakers(sql);

  const next = await findNextTask(sql, PLATFORMS, held.floors);
  expect(next.waitMs).toBeLessThanOrEqual(0);
  const { tasks } = await sql.begin((tx) => claimFrom(tx, next.floors));
  expect(tasks).toMatchObject([{ targetId }]);
});

test("a complete search finds a queue with a due time that other searches leave out, and the next claim reads this queue too", async () => {
  const { floors } = await findNextTask(sql, PLATFORMS, null);
  const { targetId } = await insertOldTask();
  expect((await findNextTask(sql, PLATFORMS, floors)).waitMs).toBeNull();

  const complete = await findNextTask(sql, PLATFORMS, null);
  const { tasks } = await sql.begin((tx) => claimFrom(tx, complete.floors));
  expect(tasks).toMatchObject([{ targetId }]);
});
