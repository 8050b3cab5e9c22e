import { deriveTimedId } from "@postrider/shared/ids";
import type { ISql } from "@postrider/shared/postgres";
import { createLogger } from "@postrider/shared/telemetry/logger";
import {
  holdTransaction,
  createTestDatabase,
  type TestDatabase,
} from "@postrider/shared/testing/database";
import { afterEach, beforeEach, expect, test } from "vitest";
import { MIGRATIONS } from "#src/config.ts";
import {
  createMissingPartitions,
  dropOldPartitions,
  startKeepPartitions,
} from "#src/webhooks/jobs/keep-partitions.ts";

const DAY_MS = 24 * 3_600_000;
const START = Date.now();
const logger = createLogger({ service: "delivery", level: "silent" });

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase({
    service: "delivery",
    migrationsFolder: MIGRATIONS,
    poolSize: 4,
  });
});
afterEach(() => database[Symbol.asyncDispose]());

/** Returns a UUIDv7 with the time of a day, counted in days from today in UTC. */
const idOfDay = (days: number) => deriveTimedId(new Date(START + days * DAY_MS), "an id");

const nameOfDay = (table: string, days: number) =>
  `${table}_${new Date(START + days * DAY_MS).toISOString().slice(0, 10).replaceAll("-", "")}`;

async function partitionsOf(table: string): Promise<readonly string[]> {
  const rows = await database.sql<{ name: string }[]>`
    select child.relname as name
    from pg_inherits
    join pg_class as child on child.oid = inhrelid
    where inhparent = ${table}::regclass
    order by child.relname`;
  return rows.map(({ name }) => name);
}

async function insertEvent(days: number, sql: ISql = database.sql): Promise<void> {
  await sql`
    insert into webhook_events (id, workspace_id, type, payload)
    values (${idOfDay(days)}, ${idOfDay(0)}, 'post.published', '{}')`;
}

async function insertQueued(days: number): Promise<void> {
  await database.sql`
    insert into webhook_queue (delivery_id, subscription_id, event_id)
    values (${idOfDay(days)}, ${idOfDay(0)}, ${idOfDay(days)})`;
}

test("the job keep-partitions creates partitions from 8 days ago to 14 days ahead, also when several processes run it at once", async () => {
  const { sql } = database;
  await Promise.all([1, 2, 3].map(() => createMissingPartitions({ sql })));

  for (const table of ["webhook_events", "webhook_deliveries", "webhook_attempts"]) {
    const names = await partitionsOf(table);
    expect(names).toHaveLength(23);
    expect(names.at(0)).toBe(nameOfDay(table, -8));
    expect(names.at(-1)).toBe(nameOfDay(table, 14));
  }
  await insertEvent(-8);
  await insertEvent(14);
  await expect(insertEvent(15)).rejects.toThrow(/no partition/);
});

test("a new partition of the webhook history has the primary key and the indexes of its table", async () => {
  await createMissingPartitions(database);
  const rows = await database.sql<{ indexdef: string }[]>`
    select indexdef from pg_indexes where tablename = ${nameOfDay("webhook_deliveries", 0)}`;
  const columns = rows.map(({ indexdef }) => /\((.+)\)/.exec(indexdef)?.[1] ?? "");
  expect(columns.toSorted()).toEqual([
    "id",
    "subscription_id, event_type, status, id",
    "subscription_id, status, id",
  ]);
});

test("the job keep-partitions drops partitions older than the webhook history, with their queued deliveries and their events without a payload", async () => {
  const { sql } = database;
  await sql`
    select create_day_partitions(name, current_date - 40, current_date + 14)
    from unnest(array['webhook_events', 'webhook_deliveries', 'webhook_attempts']) as name`;
  for (const days of [-32, -29, 0]) {
    await insertEvent(days);
    await insertQueued(days);
  }

  await dropOldPartitions({ sql, historyDays: 30 });

  expect((await partitionsOf("webhook_events"))[0]).toBe(nameOfDay("webhook_events", -30));
  const events = await sql<{ id: string }[]>`select id from webhook_events order by id`;
  const queued = await sql<{ id: string }[]>`
    select delivery_id as id from webhook_queue order by delivery_id`;
  expect(queued).toEqual(events);
  expect(events).toHaveLength(2);
  expect(await dropOldPartitions({ sql, historyDays: 30 })).toBe(0);
});

test("creating partitions of the webhook history does not wait for transactions that read and write the table", async () => {
  const { sql } = database;
  await sql`select create_day_partitions('webhook_events', current_date, current_date)`;
  await sql.begin(async (tx) => {
    await insertEvent(0, tx);
    await createMissingPartitions({ sql });
  });
  expect(await partitionsOf("webhook_events")).toHaveLength(23);
});

test("creating partitions of the webhook history gives up while a table is locked, and the job keep-partitions starts once the lock is free", async () => {
  const { sql } = database;
  const release = await holdTransaction(
    sql,
    (tx) => tx`lock table webhook_events in access exclusive mode`,
  );
  await expect(createMissingPartitions({ sql })).rejects.toMatchObject({ code: "55P03" });
  const starting = startKeepPartitions({ sql, logger, historyDays: 30 });
  await release();
  await using _job = await starting;
  expect(await partitionsOf("webhook_events")).not.toEqual([]);
});
