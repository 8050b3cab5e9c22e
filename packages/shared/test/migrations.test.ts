import { afterAll, expect, test } from "vitest";
import { openSql } from "#src/postgres.ts";
import { migrate } from "#src/postgres/migrations.ts";
import { holdTransaction } from "#src/testing/database.ts";
import { eventually } from "#src/testing/poll.ts";
import { createDatabase } from "./test-service.ts";

const FOLDER = new URL("./migrations", import.meta.url).pathname;
const REPLICAS = 10;

const database = await createDatabase();

afterAll(() => database[Symbol.asyncDispose]());

async function emptySchema(): Promise<void> {
  await database.migrationSql`drop table schema_migrations, outbox, parked_events, effects`;
}

/**
 * Runs the migrations over several connection pools at the same time, like several processes.
 * Returns the versions that each pool applied.
 */
async function migrateTogether(): Promise<readonly (readonly number[])[]> {
  const pools = Array.from({ length: REPLICAS }, (_, index) =>
    openSql({ url: database.migrationUrl, poolSize: 1, applicationName: `migrate-${index}` }),
  );
  try {
    // All connections are open before the first statement, so that the migrations really start
    // together.
    await Promise.all(pools.map((sql) => sql`select 1`));
    return await Promise.all(pools.map((sql) => migrate(sql, FOLDER)));
  } finally {
    await Promise.all(pools.map((sql) => sql.end({ timeout: 1 })));
  }
}

test("ten processes that migrate an empty schema at the same time succeed, and each migration is applied by exactly one of them", async () => {
  for (let round = 0; round < 5; round += 1) {
    await emptySchema();
    expect((await migrateTogether()).flat()).toEqual([1]);
  }
  expect((await migrateTogether()).flat()).toEqual([]);
});

test("a schema that other migrations created is refused with the way out, and stays as it is", async () => {
  await emptySchema();
  await migrate(database.migrationSql, FOLDER);
  await database.migrationSql`update schema_migrations set name = '0001_create_bus.sql'`;
  await expect(migrate(database.migrationSql, FOLDER)).rejects.toThrow(
    /^this version cannot upgrade the database: its migration 1 was 0001_create_bus\.sql, .* npm start -- --fresh\)$/,
  );
  expect(await database.sql`select version, name from schema_migrations`).toEqual([
    { version: 1, name: "0001_create_bus.sql" },
  ]);
});

test("a process that has to migrate a schema waits without a time limit while another process migrates it", async () => {
  await emptySchema();
  const release = await holdTransaction(
    database.ownerSql,
    (owner) => owner`select pg_advisory_xact_lock(hashtext('sample.schema_migrations'))`,
  );
  const slow = openSql({ url: database.migrationUrl, poolSize: 1, applicationName: "migrate" });
  await slow`set statement_timeout = '100ms'`;
  const migrated = migrate(slow, FOLDER);
  await eventually(async () => {
    const waiting = await database.ownerSql`
      select 1
      from pg_stat_activity
      where application_name = 'migrate'
      and wait_event = 'advisory'
      and clock_timestamp() - query_start > interval '200 milliseconds'`;
    expect(waiting).toHaveLength(1);
  });
  await release();
  expect(await migrated).toEqual([1]);
  await slow.end({ timeout: 1 });
});
