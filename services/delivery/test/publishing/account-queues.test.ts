import { randomUUID } from "node:crypto";
import type { Sql } from "@postrider/shared/postgres";
import fc from "fast-check";
import { expect, test } from "vitest";
import { releaseCalls } from "#src/calls/table.ts";
import { claimTasks } from "#src/publishing/db/claims.ts";
import { TASK_TABLE } from "#src/publishing/db/task-table.ts";
import { CLAIM as LARGE } from "./claim.ts";
import { openDatabase, request, World, openStage } from "./fixture.ts";

const CLAIM = { ...LARGE, limit: 10 };

/**
 * Returns a function that changes the oldest publish task with the status `status` to `next`, as
 * another process could.
 */
function change(status: string, next: string, delayMs: number) {
  return async (sql: Sql) => {
    await sql`
      update publish_tasks
      set status = ${next},
        wake_at = now() + ${delayMs} * interval '1 millisecond'
      where (target_id, generation) in (
        select target_id, generation
        from publish_tasks
        where status = ${status}
        order by wake_at
        limit 1
        for update skip locked
      )`;
  };
}

const OPERATIONS: Readonly<
  Record<string, (sql: Sql, world: World, accountId: string) => Promise<unknown>>
> = {
  request: (sql, world, accountId) => request(sql, world.addTarget({ accountId })),
  claim: (sql) => sql.begin((tx) => claimTasks(tx, CLAIM)),
  "claim and release": async (sql) => {
    const { tasks } = await sql.begin((tx) => claimTasks(tx, CLAIM));
    if (tasks.length > 0) await releaseCalls(sql, TASK_TABLE, tasks, 0);
  },
  publish: change("working", "published", 0),
  "try again later": change("working", "queued", 60_000),
  "lose the outcome": change("working", "unknown", 0),
  "lose the worker": change("working", "working", -1),
  "end the wait": change("queued", "queued", -1),
  "doubt after a restore": change("queued", "unknown", 60_000),
  cancel: change("queued", "dropped", 0),
  "prove absence": change("reconciling", "queued", 0),
  resolve: change("unknown", "failed", 0),
};

/**
 * Operations after which a task with an unknown outcome is due, while the lease of another task of
 * the same account has ended because its worker was lost.
 */
const LOST_WORKER = [
  "request",
  "request",
  "claim",
  "lose the outcome",
  "claim",
  "lose the worker",
].map((name): [string, number][] => [[name, 0]]);

/**
 * Returns the accounts that have a due task and no task in work, but that no claim would consider.
 * A claim may postpone an account for up to a second.
 */
async function findLostAccounts(sql: Sql) {
  return await sql`
    select q.account_id, q.publish_at, q.look_at, t.status, t.wake_at
    from publish_tasks t
    left join account_queues q on q.account_id = t.account_id
    where t.status in ('queued', 'working', 'unknown', 'reconciling')
    and t.wake_at <= now()
    and coalesce(case when t.status in ('queued', 'working') then q.publish_at else q.look_at end, 'infinity')
      > now() + interval '1 second'
    and not exists (
      select 1
      from publish_tasks b
      where b.account_id = t.account_id
      and b.status in ('working', 'calling', 'reconciling')
      and b.wake_at > now()
    )`;
}

test("whatever the order of concurrent claims and changes of publish tasks, later claims find every account with a due task", async () => {
  await using database = await openDatabase(6);
  const { sql } = database;
  const operation = fc.constantFrom(...Object.keys(OPERATIONS), "request", "claim", "claim");
  const step = fc.array(fc.tuple(operation, fc.constantFrom(0, 1)), { minLength: 1, maxLength: 4 });

  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 15 }), async (steps) => {
      const world = new World();
      const accounts = [randomUUID(), randomUUID()];
      for (const concurrent of steps) {
        await Promise.all(
          concurrent.map(async ([name, index]) => {
            await OPERATIONS[name]?.(sql, world, accounts[index] ?? "");
          }),
        );
        expect(await findLostAccounts(sql)).toEqual([]);
      }
      await database.migrationSql`truncate publish_tasks, account_queues`;
    }),
    { numRuns: 40, endOnFailure: true, examples: [[LOST_WORKER]] },
  );
});

test("the end of a task makes its account due only if the account has another unfinished task", async () => {
  await using database = await openStage();
  const { sql, world } = database;
  const [alone, first, second] = [
    world.addTarget({ accountId: randomUUID() }),
    world.addTarget({ accountId: randomUUID() }),
    world.addTarget(),
  ];
  await request(sql, alone, first, { ...second, accountId: first.accountId });
  const { tasks } = await sql.begin((tx) => claimTasks(tx, CLAIM));
  expect(tasks).toHaveLength(2);

  await sql`update publish_tasks set status = 'published' where status = 'working'`;

  expect(await sql`select account_id from account_queues where publish_at <= now()`).toEqual([
    { accountId: first.accountId },
  ]);
});
