import { randomUUID } from "node:crypto";
import { openSql, type Sql, type TransactionSql } from "@postrider/shared/postgres";
import type { TestDatabase } from "@postrider/shared/testing/database";
import { eventually } from "@postrider/shared/testing/poll";
import { expect, test } from "vitest";
import type { AccountEffect, Decision } from "#src/calls/call.ts";
import { markCalls } from "#src/calls/marks.ts";
import { lockPlatformBreakers } from "#src/publishing/db/platform-breakers.ts";
import { TASK_TABLE } from "#src/publishing/db/task-table.ts";
import { insertRequests, lockTasks } from "#src/publishing/db/tasks.ts";
import type { Task } from "#src/publishing/domain/task.ts";
import { writeAccountBreakers } from "#src/publishing/operations/write-decisions.ts";
import {
  publishingDeps,
  readTask,
  request,
  type TestTarget,
  openStage,
} from "./publishing/fixture.ts";

const [FIRST, SECOND] = [randomUUID(), randomUUID()].toSorted() as [string, string];

/**
 * Runs transactions in a known order: another transaction holds locks, and each transaction starts
 * when the earlier ones wait for these locks. When all of them wait, the locks are released, and
 * the first transaction continues first.
 */
async function runTogether(
  { sql, url }: TestDatabase,
  lock: (tx: TransactionSql) => PromiseLike<unknown>,
  transactions: readonly ((tx: TransactionSql) => Promise<unknown>)[],
): Promise<void> {
  const pool = openSql({ url, poolSize: 2, applicationName: "test-transactions" });
  const running: Promise<unknown>[] = [];
  await sql.begin(async (tx) => {
    await lock(tx);
    for (const run of transactions) {
      const ended = pool.begin(async (other) => await run(other));
      ended.catch(() => undefined);
      running.push(ended);
      await eventually(async () => {
        const [row] = await sql<{ count: number }[]>`
          select count(*)::int as count
          from pg_stat_activity
          where datname = current_database()
          and application_name = 'test-transactions'
          and wait_event_type = 'Lock'`;
        expect(row?.count).toBe(running.length);
      });
    }
  });
  const results = await Promise.allSettled(running);
  await pool.end({ timeout: 1 });
  for (const result of results) if (result.status === "rejected") throw result.reason;
}

async function drop(sql: Sql, ...targets: readonly TestTarget[]): Promise<void> {
  await request(sql, ...targets);
  await sql`
    update publish_tasks
    set status = 'dropped'
    where target_id in ${sql(targets.map(({ targetId }) => targetId))}`;
}

test("two batches of publish requests that lock the targets of two accounts in opposite order do not deadlock, and queue all four targets", async () => {
  await using database = await openStage();
  const { sql, world } = database;
  const [newFirst, droppedFirst] = [1, 2].map(() => world.addTarget({ accountId: FIRST }));
  const [newSecond, droppedSecond] = [1, 2].map(() => world.addTarget({ accountId: SECOND }));
  const all = [newFirst, newSecond, droppedFirst, droppedSecond] as TestTarget[];
  const [a, b, c, d] = all as [TestTarget, TestTarget, TestTarget, TestTarget];
  await drop(sql, c, d);

  await runTogether(
    database,
    (tx) => tx`select 1 from account_queues where account_id = ${FIRST} for update`,
    [(tx) => insertRequests(tx, [b, c]), (tx) => insertRequests(tx, [a, d])],
  );

  for (const target of all) expect(await readTask(sql, target)).toMatchObject({ status: "queued" });
});

test("two transactions that each reset the failures of one account and count a failure of the other account do not deadlock", async () => {
  await using database = await openStage();
  const { sql, world } = database;
  const targets = [FIRST, SECOND].map((accountId) => world.addTarget({ accountId }));
  await request(sql, ...targets);
  await sql`
    insert into account_breakers (account_id, workspace_id, failures_in_row)
    select account_id, workspace_id, 1 from publish_tasks`;
  const tasks = await sql.begin((tx) =>
    lockTasks(
      tx,
      targets.map(({ targetId }) => targetId),
    ),
  );
  const { settings } = publishingDeps(world, sql);
  const record = (answeredId: string) => async (tx: TransactionSql) => {
    const decisions = tasks.map((task): Decision<Task> => {
      const account: AccountEffect = {
        kind: task.accountId === answeredId ? "answered" : "failed",
      };
      return { call: task, changes: [], account };
    });
    await writeAccountBreakers(tx, settings, decisions, new Date());
  };

  await runTogether(
    database,
    (tx) => tx`select 1 from account_breakers where account_id = ${FIRST} for update`,
    [record(FIRST), record(SECOND)],
  );

  const rows = await sql<{ failuresInRow: number }[]>`
    select failures_in_row
    from account_breakers
    order by failures_in_row`;
  // Both accounts began with one failure. The first transaction reset the failures of one account.
  // The second transaction reset those of the other account and counted a failure of the first
  // one's account.
  expect(rows.map(({ failuresInRow }) => failuresInRow)).toEqual([0, 1]);
});

/** Marks publish tasks as in work; returns requests to begin their publishing calls. */
async function takeInWork(sql: Sql, targets: readonly TestTarget[]) {
  await request(sql, ...targets);
  await sql`
    update publish_tasks
    set status = 'working', fence = 1, wake_at = now() + interval '1 minute'
    where status = 'queued'`;
  const held = targets.map(({ targetId, generation, text }) => ({
    targetId,
    generation,
    fence: 1,
    callKey: text,
    externalAccountId: "external-1",
    callMs: 60_000,
  }));
  return held;
}

test("sending probes to two held platforms and recording whether both answer do not deadlock", async () => {
  await using database = await openStage();
  const { sql, world } = database;
  const requests = await takeInWork(sql, [
    world.addTarget({ platform: "x" }),
    world.addTarget({ platform: "telegram" }),
  ]);
  // The rows lie in the table in the opposite order of the platforms' names.
  for (const platform of ["x", "telegram"])
    await sql`insert into platform_breakers (platform, held_since, probe_at) values (${platform}, now(), now())`;
  let marked = 0;

  await runTogether(
    database,
    (tx) => tx`select 1 from platform_breakers where platform = 'x' for update`,
    [
      async (tx) => (marked = (await markCalls(tx, TASK_TABLE, requests)).length),
      (tx) => lockPlatformBreakers(tx, ["telegram", "x"]),
    ],
  );

  expect(marked).toBe(2);
});

test("a task whose account has another open call is not sent as the probe of a held platform", async () => {
  await using database = await openStage();
  const { sql, world } = database;
  const accountId = randomUUID();
  const targets = [1, 2, 3].map(() => world.addTarget());
  const [open, blocked, free] = await takeInWork(
    sql,
    targets.map((target, index) => (index < 2 ? world.addTarget({ accountId }) : target)),
  );
  if (open === undefined || blocked === undefined || free === undefined) throw new Error("no task");
  await markCalls(sql, TASK_TABLE, [open]);
  await sql`insert into platform_breakers (platform, held_since, probe_at) values ('x', now(), now())`;

  expect(await markCalls(sql, TASK_TABLE, [blocked])).toEqual([]);
  expect(await markCalls(sql, TASK_TABLE, [free])).toHaveLength(1);
});
