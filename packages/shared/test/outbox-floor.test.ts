import { AccountConnectedSchema } from "@postrider/contracts/accounts/v1/accounts_events_pb";
import { afterAll, beforeEach, expect, test } from "vitest";
import { createPostgresBus } from "#src/bus/postgres.ts";
import { appendEvents, outboxEvent, readOutboxBacklog } from "#src/outbox.ts";
import { OutboxFloor, outboxFloorOf } from "#src/outbox/floor.ts";
import { nextRows } from "#src/outbox/pass.ts";
import { startRelay } from "#src/outbox/relay.ts";
import type { TransactionSql } from "#src/postgres.ts";
import { holdTransaction } from "#src/testing/database.ts";
import { countPages } from "#src/testing/explain.ts";
import { eventually } from "#src/testing/poll.ts";
import { createDatabase, logger } from "./test-service.ts";

const database = await createDatabase();
const { sql } = database;

beforeEach(async () => {
  await database.migrationSql`truncate outbox`;
});

afterAll(() => database[Symbol.asyncDispose]());

const appendKeys = (tx: TransactionSql, keys: readonly string[]) =>
  appendEvents(
    tx,
    keys.map((key) => outboxEvent(AccountConnectedSchema, { accountId: key }, key)),
  );

/** Appends events and deletes them, as an outbox relay does after it has published them. */
async function passEvents(count: number): Promise<void> {
  const keys = Array.from({ length: count }, (_, index) => `passed-${index}`);
  await sql.begin((tx) => appendKeys(tx, keys));
  await sql`delete from outbox where key like 'passed-%'`;
}

/** Runs `work` while another transaction holds a snapshot, as a backup of the database does. */
async function duringBackup(work: () => Promise<void>): Promise<void> {
  await database.ownerSql.begin("isolation level repeatable read", async (backup) => {
    await backup`select 1`;
    await work();
  });
}

const countPagesFrom = (floor: number) => countPages(sql, nextRows(sql, floor));

async function advance(floor: OutboxFloor): Promise<void> {
  const { lastId } = await readOutboxBacklog(sql, floor.id);
  await floor.advance(sql, lastId);
}

async function advanceTwice(floor: OutboxFloor): Promise<void> {
  await advance(floor);
  await advance(floor);
}

test("an outbox relay does not read the events that were deleted during a backup of the database", async () => {
  await duringBackup(async () => {
    await passEvents(20_000);
    const floor = new OutboxFloor();
    expect(await countPagesFrom(floor.id)).toBeGreaterThan(200);
    await advanceTwice(floor);
    expect(await countPagesFrom(floor.id)).toBeLessThan(10);
  });
});

test("the floor of the outbox (lowest id that relays read) does not pass an event whose transaction commits after thousands of later events", async () => {
  const floor = new OutboxFloor();
  const release = await holdTransaction(sql, (tx) => appendKeys(tx, ["late"]));
  await passEvents(3_000);
  for (let round = 0; round < 4; round += 1) await advanceTwice(floor);
  await release();
  expect((await nextRows(sql, floor.id)).map(({ key }) => key)).toEqual(["late"]);
  await passEvents(3_000);
  for (let round = 0; round < 4; round += 1) await advanceTwice(floor);
  expect((await nextRows(sql, floor.id)).map(({ key }) => key)).toEqual(["late"]);
});

test("the floor of the outbox (lowest id that relays read) does not pass an id that a transaction has taken but not yet written to a row", async () => {
  const floor = new OutboxFloor();
  const gate = 4_711;
  const { late } = await database.ownerSql.begin(async (owner) => {
    await owner`select pg_advisory_xact_lock(${gate})`;
    // The id is the first column of the outbox, so the insert has already taken an id while it
    // waits for the value of `key`.
    const statement = sql`
      insert into outbox (event_id, type, key, payload, headers)
      values (gen_random_uuid(), 't', 'late' || pg_advisory_xact_lock_shared(${gate})::text, '{}', '{}')`;
    const insert = statement.execute();
    await eventually(async () => {
      const waiting = await owner`
        select 1 from pg_locks where locktype = 'advisory' and objid = ${gate} and not granted`;
      expect(waiting).toHaveLength(1);
    });
    await passEvents(3_000);
    for (let round = 0; round < 4; round += 1) await advanceTwice(floor);
    return { late: insert };
  });
  await late;
  expect((await nextRows(sql, floor.id)).map(({ key }) => key)).toEqual(["late"]);
});

test("the floor of the outbox (lowest id that relays read) starts at the beginning when the database was replaced by an older copy", async () => {
  const floor = new OutboxFloor();
  await passEvents(3_000);
  await advanceTwice(floor);
  expect(floor.id).toBeGreaterThan(3_000);
  await database.migrationSql`alter sequence outbox_id_seq restart with 1`;
  await sql.begin((tx) => appendKeys(tx, ["older"]));
  await advance(floor);
  expect((await nextRows(sql, floor.id)).map(({ key }) => key)).toEqual(["older"]);
});

test("the regular check of the outbox finds an event below the floor (lowest id that relays read)", async () => {
  const floor = new OutboxFloor();
  await passEvents(3_000);
  await advanceTwice(floor);
  await sql`
    insert into outbox (id, event_id, type, key, payload, headers) overriding system value
    values (0, gen_random_uuid(), 't', 'below', '{}', '{}')`;
  expect(await nextRows(sql, floor.id)).toEqual([]);
  await floor.verify(sql);
  expect((await nextRows(sql, floor.id)).map(({ key }) => key)).toEqual(["below"]);
});

test("the outbox relay publishes all events of six concurrent transactions, although the lowest id that relays read rises while they append", async () => {
  const topic = "sample.floor";
  await using bus = createPostgresBus({ sql, logger });
  await using _relay = startRelay({
    sql,
    bus,
    service: "sample",
    topicOf: () => topic,
    logger,
    pollMs: 1,
  });
  const floor = outboxFloorOf(sql);
  const keysOf = (writer: number, part: number) =>
    Array.from({ length: 300 }, (_, index) => `${writer}-${part}-${index}`);
  const writers = Array.from({ length: 6 }, (_, writer) =>
    sql.begin(async (tx) => {
      for (let part = 0; part < 5; part += 1) {
        await appendKeys(tx, keysOf(writer, part));
        await advance(floor);
      }
    }),
  );
  await Promise.all(writers);
  await eventually(async () => {
    const [row] = await sql<{ count: number }[]>`
      select count(distinct key) from bus.records where topic = ${topic}`;
    expect(row?.count).toBe(9_000);
  });
});
