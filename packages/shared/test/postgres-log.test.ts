import { afterAll, beforeEach, expect, test } from "vitest";
import type { BatchHandler, Bus } from "#src/bus.ts";
import { deleteOldRecords } from "#src/bus/postgres-log.ts";
import { createPostgresBus } from "#src/bus/postgres.ts";
import { eventually } from "#src/testing/poll.ts";
import { createDatabase, logger } from "./test-service.ts";

const topic = "sample.events.v1";
const WEEK_MS = 7 * 24 * 3_600_000;

const database = await createDatabase();

beforeEach(async () => {
  await database.ownerSql`truncate bus.records, bus.positions, sample.effects`;
});

afterAll(() => database[Symbol.asyncDispose]());

const publish = (bus: Bus, keys: readonly string[]) =>
  database.sql.begin((tx) =>
    bus.publish(
      tx,
      topic,
      keys.map((key) => ({ key, headers: {}, value: key })),
    ),
  );

const keysFrom = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`);

function collect(): { readonly seen: string[]; readonly handle: BatchHandler } {
  const seen: string[] = [];
  return { seen, handle: async (_tx, records) => void seen.push(...records.map(({ key }) => key)) };
}

test("the Postgres bus deletes records older than a week, and a consumer continues at its position", async () => {
  const { sql } = database;
  await using bus = createPostgresBus({ sql, logger, pollMs: 5 });
  const { seen, handle } = collect();
  {
    await using _subscription = await bus.subscribe({ group: "sample", topic, handle });
    await publish(bus, keysFrom("old", 2_500));
    await eventually(() => seen.length === 2_500);
  }
  await database.ownerSql`update bus.records set appended_at = now() - interval '8 days'`;
  await publish(bus, keysFrom("new", 3));
  expect(await deleteOldRecords(sql, WEEK_MS)).toBe(2_500);
  expect(await sql`select key from bus.records order by id`).toEqual(
    keysFrom("new", 3).map((key) => ({ key })),
  );
  await bus.subscribe({ group: "sample", topic, handle });
  await eventually(() => expect(seen.slice(2_500)).toEqual(keysFrom("new", 3)));
  await database.ownerSql`update bus.records set appended_at = now() - interval '8 days'`;
  expect(await deleteOldRecords(sql, WEEK_MS)).toBe(3);
  await publish(bus, ["after"]);
  await eventually(() => expect(seen.slice(2_503)).toEqual(["after"]));
});

test("a consumer reads the Postgres event log from its beginning when the log was replaced", async () => {
  const { sql, ownerSql } = database;
  await using bus = createPostgresBus({ sql, logger, pollMs: 5 });
  const { seen, handle } = collect();
  await bus.subscribe({ group: "sample", topic, handle });
  await publish(bus, keysFrom("first", 50));
  await eventually(() => seen.length === 50);
  await ownerSql`truncate bus.records`;
  await ownerSql`alter sequence bus.record_ids restart with 1`;
  await publish(bus, keysFrom("second", 10));
  await eventually(() => expect(seen.slice(50)).toEqual(keysFrom("second", 10)));
});

test("a consumer whose stored position was deleted creates the position again and rereads the log", async () => {
  const { sql, ownerSql } = database;
  await using bus = createPostgresBus({ sql, logger, pollMs: 5 });
  const { seen, handle } = collect();
  await bus.subscribe({ group: "sample", topic, handle });
  await publish(bus, ["a"]);
  await eventually(() => seen.length === 1);
  await ownerSql`truncate bus.positions`;
  await publish(bus, ["b"]);
  await eventually(() => expect(seen).toEqual(["a", "a", "b"]));
});

test("a consumer is notified of an append to the Postgres log, even after its listening connection was lost", async () => {
  const { sql, url, ownerSql } = database;
  await using bus = createPostgresBus({ sql, listenUrl: url, logger, pollMs: 60_000 });
  const { seen, handle } = collect();
  await bus.subscribe({ group: "sample", topic, handle });
  const listeners = async () =>
    (
      await ownerSql<{ pid: number }[]>`
      select pid from pg_stat_activity
      where application_name = 'postrider-bus-listen' and datname = current_database() and query ilike 'listen%'`
    ).map(({ pid }) => pid);
  const [first] = await eventually(
    async () => (await listeners()).length === 1 && (await listeners()),
  );
  await publish(bus, ["a"]);
  await eventually(() => seen.includes("a"));
  await ownerSql`select pg_terminate_backend(${first ?? 0}::int)`;
  await eventually(async () => {
    const [next] = await listeners();
    return next !== undefined && next !== first;
  });
  await publish(bus, ["b"]);
  await eventually(() => seen.includes("b"));
});
