import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AccountConnectedSchema } from "@postrider/contracts/accounts/v1/accounts_events_pb";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createPostgresBus } from "#src/bus/postgres.ts";
import { newId } from "#src/ids.ts";
import { appendEvents, outboxEvent } from "#src/outbox.ts";
import { startRelay } from "#src/outbox/relay.ts";
import { openSql, type Sql, type TransactionSql } from "#src/postgres.ts";
import { eventually } from "#src/testing/poll.ts";
import { createDatabase, logger } from "./test-service.ts";

const WRITERS = 12;
const TRANSACTIONS = 8;
const common = { service: "sample", logger };

type Append = (tx: TransactionSql, topic: string, key: string) => Promise<void>;

const database = await createDatabase(WRITERS + 4);

afterAll(() => database[Symbol.asyncDispose]());

/**
 * Runs concurrent writers whose transactions stay open for up to 20 ms after the append. So they
 * commit in another order than they append.
 */
async function write(append: Append, topic: string): Promise<readonly string[]> {
  const writers = Array.from({ length: WRITERS }, async (_, writer) => {
    const keys = Array.from({ length: TRANSACTIONS }, (_, index) => `${topic}-${writer}-${index}`);
    for (const key of keys)
      await database.sql.begin(async (tx) => {
        await append(tx, topic, key);
        await tx`select pg_sleep(random() * 0.02)`;
      });

    return keys;
  });
  return (await Promise.all(writers)).flat();
}

/**
 * Runs the writers while a consumer of the real bus reads; returns the events that the consumer did
 * not receive.
 */
async function findLost(append: Append, topic: string): Promise<readonly string[]> {
  const { sql, url } = database;
  const seen: string[] = [];
  await using bus = createPostgresBus({ sql, listenUrl: url, logger, pollMs: 2 });
  await bus.subscribe({
    group: "sample",
    topic,
    handle: (_tx, records) => {
      seen.push(...records.map(({ key }) => key));
      return Promise.resolve();
    },
  });
  const written = await write(append, topic);
  // The last record is appended when no other transaction is open: once it is received, no further
  // record follows.
  await sql.begin((tx) => append(tx, topic, "last"));
  await eventually(() => seen.includes("last"));
  const lost = new Set(written).difference(new Set(seen));
  expect(seen).toHaveLength(written.length + 1 - lost.size);
  return [...lost];
}

const appendToOutbox: Append = (tx, _topic, key) =>
  appendEvents(tx, [outboxEvent(AccountConnectedSchema, { accountId: key }, key)]);

/**
 * The naive alternative to the relay: transactions that write to the log themselves, without the
 * lock on the topic.
 */
const appendUnserialised: Append = async (tx, topic, key) => {
  await tx`insert into bus.records (topic, key, headers, value) values (${topic}, ${key}, '{}', '{}')`;
};

describe("the outbox with 12 writers that hold transactions open, 3 relays and a consumer that reads ids above its position", () => {
  let relayPools: readonly Sql[];

  beforeAll(() => {
    relayPools = Array.from({ length: 3 }, (_, index) =>
      openSql({ url: database.url, poolSize: 2, applicationName: `relay-${index}` }),
    );
  });

  afterAll(() => Promise.all(relayPools.map((sql) => sql.end({ timeout: 1 }))));

  test("12 concurrent writers and 3 outbox relays neither lose an event nor publish one twice in 20 runs", async () => {
    for (let run = 0; run < 20; run += 1) {
      const topic = `sample.run-${newId()}`;
      await using relays = new AsyncDisposableStack();
      for (const sql of relayPools) {
        const bus = relays.use(createPostgresBus({ sql, logger }));
        relays.use(startRelay({ ...common, sql, bus, topicOf: () => topic, pollMs: 2 }));
      }
      expect(await findLost(appendToOutbox, topic), `run ${run}`).toEqual([]);
    }
  });

  test("the test for lost events finds lost events when appends to the Postgres event log are not serialised", async () => {
    let lost = 0;
    for (let run = 0; run < 5 && lost === 0; run += 1)
      lost += (await findLost(appendUnserialised, `sample.naive-${newId()}`)).length;

    expect(lost).toBeGreaterThan(0);
  });
});

describe("a relay process that is suspended in the middle of a pass", () => {
  const topic = `sample.stopped-${newId()}`;
  let failpoints: string;
  let child: ChildProcess;

  beforeAll(async () => {
    failpoints = mkdtempSync(join(tmpdir(), "postrider-failpoints-"));
    // The role's idle timeout is 10 s; the database of this test sets 1 s, to shorten the test.
    const [row] = await database.ownerSql<{ name: string }[]>`select current_database() as name`;
    await database.ownerSql.unsafe(
      `alter role postrider_sample in database ${row?.name} set idle_in_transaction_session_timeout = '1s'`,
    );
    const program = join(import.meta.dirname, "relay-process.ts");
    child = spawn(process.execPath, [program, database.url, topic, failpoints], {
      stdio: "ignore",
    });
  });

  afterAll(() => {
    child.kill("SIGKILL");
    rmSync(failpoints, { recursive: true });
  });

  const state = (): string =>
    readFileSync(`/proc/${child.pid}/stat`, "utf8").split(") ")[1]?.[0] ?? "";
  const append = (key: string) => database.sql.begin((tx) => appendToOutbox(tx, topic, key));
  const readKeys = async (): Promise<readonly string[]> =>
    (
      await database.sql<
        { key: string }[]
      >`select key from bus.records where topic = ${topic} order by id`
    ).map(({ key }) => key);

  test("Postgres ends a transaction of a service's database role that has been idle for 10 s", async () => {
    const [row] = await database.ownerSql<{ setconfig: string }[]>`
      select setconfig::text as setconfig
      from pg_db_role_setting as setting
      join pg_roles as role on role.oid = setting.setrole
      where rolname = 'postrider_sample' and setdatabase = 0`;
    expect(row?.setconfig).toContain("idle_in_transaction_session_timeout=10s");
  });

  test.each(["relay.locked", "relay.published"])(
    "an outbox relay suspended at the failpoint %s blocks others only until its transaction times out, and publishes nothing twice afterwards",
    async (name) => {
      const before = await readKeys();
      writeFileSync(join(failpoints, name), "stop");
      await append(`${name}-first`);
      await eventually(() => state() === "T");
      const stoppedAt = performance.now();
      {
        const { sql } = database;
        await using bus = createPostgresBus({ sql, logger });
        await using _relay = startRelay({ ...common, sql, bus, topicOf: () => topic, pollMs: 20 });
        await append(`${name}-second`);
        const expected = [...before, `${name}-first`, `${name}-second`];
        await eventually(async () => expect(await readKeys()).toEqual(expected));
        expect(performance.now() - stoppedAt).toBeLessThan(2_500);
      }
      child.kill("SIGCONT");
      await append(`${name}-third`);
      const expected = [...before, `${name}-first`, `${name}-second`, `${name}-third`];
      await eventually(async () => expect(await readKeys()).toEqual(expected));
    },
  );
});
