import { randomUUID } from "node:crypto";
import { openSql, type Sql } from "@postrider/shared/postgres";
import type { TestDatabase } from "@postrider/shared/testing/database";
import { eventually } from "@postrider/shared/testing/poll";
import { expect, test } from "vitest";
import { CallMarker } from "#src/calls/call-marker.ts";
import { renewLeases } from "#src/calls/table.ts";
import { TASK_TABLE } from "#src/publishing/db/task-table.ts";
import { nameClaim } from "#src/publishing/domain/task.ts";
import { openDatabase, request, World, type TestTarget } from "./fixture.ts";

const FENCE = 1;

function toHeld({ targetId, generation }: TestTarget) {
  return { targetId, generation, fence: FENCE };
}

function markAll(sql: Sql, targets: readonly TestTarget[]) {
  const marker = new CallMarker(sql, TASK_TABLE, nameClaim);
  const marks = targets.map((target) =>
    marker.mark({
      ...toHeld(target),
      callKey: target.text,
      externalAccountId: target.accountId,
      callMs: 60_000,
    }),
  );
  return Promise.all(marks);
}

/**
 * Requests the publication of targets and marks their publish tasks as in work, one after the other
 * in the given order.
 */
async function takeInWork(sql: Sql, targets: readonly TestTarget[]): Promise<void> {
  await request(sql, ...targets);
  for (const target of targets)
    await sql`
      update publish_tasks
      set status = 'working', fence = ${FENCE}, wake_at = now() + interval '1 minute'
      where target_id = ${target.targetId}`;
}

/**
 * Locks the publish tasks of targets in the database, starts each SQL statement when the earlier
 * ones wait for a lock, and releases the locks when all of them wait.
 */
async function holdUntilWaiting(
  { sql }: TestDatabase,
  targets: readonly TestTarget[],
  statements: readonly (() => void)[],
): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`
      select 1
      from publish_tasks
      where target_id in ${tx(targets.map(({ targetId }) => targetId))}
      for update`;
    for (const [index, start] of statements.entries()) {
      start();
      await eventually(async () => {
        const [row] = await sql<{ count: number }[]>`
          select count(*)::int as count
          from pg_stat_activity
          where datname = current_database()
          and application_name = 'test-marker'
          and wait_event_type = 'Lock'`;
        return row?.count === index + 1;
      });
    }
  });
}

function openProcess(database: TestDatabase): Sql {
  return openSql({ url: database.url, poolSize: 2, applicationName: "test-marker" });
}

test("two processes that begin publishing calls of the same two accounts in opposite order do not deadlock, and one call begins per account", async () => {
  await using database = await openDatabase();
  const world = new World();
  const [x, y] = [randomUUID(), randomUUID()];
  const [ax, ay] = [world.addTarget({ accountId: x }), world.addTarget({ accountId: y })];
  const [by, bx] = [world.addTarget({ accountId: y }), world.addTarget({ accountId: x })];
  await takeInWork(database.sql, [ax, ay, by, bx]);
  const [a, b] = [openProcess(database), openProcess(database)];
  const started: ReturnType<typeof markAll>[] = [];

  // Each process has recorded the start of a publishing call for one of the two accounts when it
  // has to wait. It has not yet recorded the start of its call for the other account.
  await holdUntilWaiting(
    database,
    [ay, bx],
    [() => started.push(markAll(a, [ax, ay])), () => started.push(markAll(b, [by, bx]))],
  );

  const results = (await Promise.all(started)).flat();
  expect(results.map(({ kind }) => kind).toSorted()).toEqual([
    "marked",
    "marked",
    "unmarked",
    "unmarked",
  ]);
  await Promise.all([a, b].map((sql) => sql.end({ timeout: 1 })));
});

test("calls that exceed a limit of the database together begin in smaller statements, and one that exceeds it alone is left to a later try", async () => {
  await using database = await openDatabase();
  const world = new World();
  const targets = [1, 2, 3, 4, 5].map(() => world.addTarget());
  await takeInWork(database.sql, targets);
  await database.migrationSql.unsafe(`
    create function refuse_many() returns trigger language plpgsql as $$
    begin
      if (select count(*) > 1 or bool_or(target_id = '${targets[1]?.targetId}') from changed) then
        raise exception sqlstate '57014';
      end if;
      return null;
    end
    $$;
    create trigger refuse_many after update on publish_tasks
    referencing new table as changed for each statement execute function refuse_many()`);

  const results = await markAll(database.sql, targets);
  expect(results.map(({ kind }) => kind)).toEqual([
    "marked",
    "unmarked",
    "marked",
    "marked",
    "marked",
  ]);
  expect(results[1]).toMatchObject({ reason: "busy" });
});

test.each([
  ["records the start of publishing calls", "renews leases", false],
  ["renews leases", "records the start of publishing calls", true],
])(
  "a statement that %s and a later statement that %s do not deadlock when they lock the same tasks, and no lease counts as lost",
  async (_first, _second, isRenewedFirst) => {
    await using database = await openDatabase();
    const world = new World();
    const tasks = [1, 2, 3, 4].map(() => world.addTarget());
    await takeInWork(database.sql, tasks);
    const [first, second, third, last] = tasks as [TestTarget, TestTarget, TestTarget, TestTarget];
    const sql = openProcess(database);
    const marked: ReturnType<typeof markAll>[] = [];
    const renewed: ReturnType<typeof renewLeases>[] = [];

    const mark = () => marked.push(markAll(sql, [first, second, last]));
    const renew = () =>
      renewed.push(renewLeases(sql, TASK_TABLE, [last, third, first].map(toHeld), 60_000));

    // The two SQL statements need two of the same tasks, and they name them in opposite order.
    await holdUntilWaiting(
      database,
      [second, third],
      isRenewedFirst ? [renew, mark] : [mark, renew],
    );

    expect((await Promise.all(marked)).flat().map(({ kind }) => kind)).toEqual([
      "marked",
      "marked",
      "marked",
    ]);
    expect((await Promise.all(renewed)).flat()).toHaveLength(3);
    await sql.end({ timeout: 1 });
  },
);
