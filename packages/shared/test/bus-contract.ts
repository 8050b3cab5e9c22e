import { create, toJsonString } from "@bufbuild/protobuf";
import { AccountConnectedSchema } from "@postrider/contracts/accounts/v1/accounts_events_pb";
import { MediaReadySchema } from "@postrider/contracts/media/v1/media_events_pb";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { BatchHandler, Bus, BusRecord } from "#src/bus.ts";
import { toRecord } from "#src/bus/cloud-events.ts";
import { handleEvents, startConsumer, type ConsumerOptions } from "#src/bus/consumer.ts";
import { unavailable } from "#src/errors.ts";
import { newId } from "#src/ids.ts";
import { appendEvents, outboxEvent } from "#src/outbox.ts";
import { startRelay } from "#src/outbox/relay.ts";
import type { Sql } from "#src/postgres.ts";
import { eventually } from "#src/testing/poll.ts";
import { logger } from "./test-service.ts";

/** An event bus of one technology. The tests that every bus must pass run on it. */
export interface BusFixture extends AsyncDisposable {
  /** Database of the consumers in the tests. */
  readonly sql: Sql;
  /** Opens the event bus as the process of a service does. */
  open(): Bus;
  makeTopic(topic: string): Promise<void>;
  /** Deletes all records of the topic, as an operator may. */
  truncate(topic: string): Promise<void>;
}

/**
 * Returns the name of a new consumer group. On the Postgres bus, the service `sample` can use only
 * groups whose names begin with `sample`.
 */
function newGroup(): string {
  return `sample.${newId()}`;
}

/** The tests that every implementation of the bus must pass. */
export function describeBus(name: string, createFixture: () => Promise<BusFixture>): void {
  describe(name, () => {
    let fixture: BusFixture;
    let sql: Sql;

    beforeAll(async () => {
      fixture = await createFixture();
      sql = fixture.sql;
    }, 180_000);

    afterAll(() => fixture[Symbol.asyncDispose]());

    const makeTopic = async (): Promise<string> => {
      const topic = `sample.contract-${newId()}`;
      await fixture.makeTopic(topic);
      return topic;
    };

    test("a tail receives what is published from its start on, with rising offsets, and nothing after its end", async () => {
      await using bus = fixture.open();
      const topics = [await makeTopic(), await makeTopic()];
      const [first = "", second = ""] = topics;
      const record = (key: string) => ({ key, headers: {}, value: key });
      await publish(bus, first, [record("before")]);
      const keys: string[] = [];
      const offsets = new Map<string, number>();
      const isRising: boolean[] = [];
      const start = Promise.withResolvers<void>();
      const tail = await bus.tail({
        group: newGroup(),
        topics,
        onStart: (found) => {
          for (const [place, offset] of found) offsets.set(place, offset);
          start.resolve();
        },
        onRecords: (records) => {
          for (const { key, place, offset } of records) {
            keys.push(key);
            isRising.push(offset > (offsets.get(place) ?? Number.POSITIVE_INFINITY));
            offsets.set(place, offset);
          }
        },
      });
      await start.promise;
      await publish(bus, first, [record("a"), record("b")]);
      await publish(bus, second, [record("c")]);
      await eventually(() => expect(keys.toSorted()).toEqual(["a", "b", "c"]));
      expect(isRising).toEqual([true, true, true]);
      await tail[Symbol.asyncDispose]();
      await publish(bus, first, [record("after")]);
      await expect(sql`select 1`).resolves.toHaveLength(1);
      expect(keys).toHaveLength(3);
    });

    const publish = async (
      bus: Bus,
      topic: string,
      records: readonly BusRecord[],
    ): Promise<void> => {
      await sql.begin((tx) => bus.publish(tx, topic, records));
    };

    /**
     * Creates a handler that inserts each record into a table, in the transaction in which the
     * event bus calls it.
     */
    const writeEffects =
      (group: string): BatchHandler =>
      async (tx, records) => {
        const rows = records.map(({ key, value }) => ({ group_name: group, key, value }));
        await tx`insert into effects ${tx(rows)}`;
      };

    const readEffects = async (group: string): Promise<readonly { key: string; value: string }[]> =>
      await sql<{ key: string; value: string }[]>`
        select key, value from effects where group_name = ${group} order by id`;

    const readValues = async (group: string): Promise<readonly string[]> =>
      (await readEffects(group)).map(({ value }) => value);

    const expectAll = async (group: string, records: readonly BusRecord[]): Promise<void> => {
      const wanted = records.map(({ value }) => value).toSorted();
      await eventually(async () => {
        expect([...new Set(await readValues(group))].toSorted()).toEqual(wanted);
      });
    };

    test("every consumer group receives every record, even if another group keeps failing", async () => {
      const topic = await makeTopic();
      await using bus = fixture.open();
      const records = plainRecords(600, 30);
      const [first, second] = [newGroup(), newGroup()];
      await bus.subscribe({ group: first, topic, handle: writeEffects(first) });
      await bus.subscribe({
        group: newGroup(),
        topic,
        handle: () => Promise.reject(new Error("broken group")),
      });
      await bus.subscribe({ group: second, topic, handle: writeEffects(second) });
      const parts = [records.slice(0, 200), records.slice(200, 400), records.slice(400)];
      await Promise.all(parts.map((part) => publish(bus, topic, part)));
      await expectAll(first, records);
      await expectAll(second, records);
    });

    test("a consumer receives the records of one key in order as long as no record fails", async () => {
      const topic = await makeTopic();
      await using bus = fixture.open();
      const group = newGroup();
      const records = plainRecords(500, 10);
      await bus.subscribe({ group, topic, handle: writeEffects(group) });
      for (let start = 0; start < records.length; start += 50)
        await publish(bus, topic, records.slice(start, start + 50));

      await expectAll(group, records);
      expect(byKey(await readEffects(group))).toEqual(byKey(records));
    });

    test("a batch of records that outlasts the time limit of a statement is halved until it is short enough", async () => {
      const topic = await makeTopic();
      await using bus = fixture.open();
      const group = newGroup();
      const records = plainRecords(200, 1);
      const write = writeEffects(group);
      const sizes: number[] = [];
      await publish(bus, topic, records);
      await bus.subscribe({
        group,
        topic,
        handle: async (tx, batch) => {
          sizes.push(batch.length);
          await tx`set local statement_timeout = 300`;
          await tx`select pg_sleep(${batch.length * 0.01})`;
          await write(tx, batch);
        },
      });
      await expectAll(group, records);
      expect(await readValues(group)).toHaveLength(200);
      expect(Math.max(...sizes)).toBeGreaterThan(30);
      expect(sizes.at(-1)).toBeLessThanOrEqual(30);
    });

    test("a handler receives at most 200 records per call, with key, headers and value as published", async () => {
      const topic = await makeTopic();
      await using bus = fixture.open();
      const seen: BusRecord[][] = [];
      const record = { key: "clé", headers: { ce_id: "1", note: "ünï" }, value: '{"text":"🎉"}' };
      await publish(bus, topic, [record, ...plainRecords(450, 1)]);
      await bus.subscribe({
        group: newGroup(),
        topic,
        handle: async (_tx, batch) => void seen.push([...batch]),
      });
      await eventually(() => expect(seen.flat()).toHaveLength(451));
      expect(seen.flat().find(({ key }) => key === "clé")).toMatchObject(record);
      expect(Math.max(...seen.map((batch) => batch.length))).toBeLessThanOrEqual(200);
    });

    test("a new consumer group starts at the beginning of a topic, and continues at its position after a restart", async () => {
      const topic = await makeTopic();
      const group = newGroup();
      const records = plainRecords(300, 20);
      {
        await using bus = fixture.open();
        await publish(bus, topic, records.slice(0, 200));
        await bus.subscribe({ group, topic, handle: writeEffects(group) });
        await expectAll(group, records.slice(0, 200));
      }
      await using bus = fixture.open();
      await publish(bus, topic, records.slice(200));
      await bus.subscribe({ group, topic, handle: writeEffects(group) });
      await expectAll(group, records);
      expect(await readValues(group)).toHaveLength(300);
    });

    test("failures and restarts of a consumer lose no record, because its position is stored only after the effect of the records", async () => {
      const topic = await makeTopic();
      const group = newGroup();
      const records = plainRecords(400, 20);
      const effect = writeEffects(group);
      let calls = 0;
      const flaky: BatchHandler = async (tx, batch) => {
        await effect(tx, batch);
        calls += 1;
        if (calls % 3 !== 0) throw unavailable();
      };
      for (let round = 0; round < 4; round += 1) {
        await using bus = fixture.open();
        await publish(bus, topic, records.slice(round * 100, round * 100 + 100));
        const before = calls;
        await bus.subscribe({ group, topic, handle: flaky });
        await eventually(() => calls > before);
      }
      await using bus = fixture.open();
      await bus.subscribe({ group, topic, handle: effect });
      await expectAll(group, records);
    });

    test("the members of a consumer group share the records, and no record is lost when a member leaves", async () => {
      const topic = await makeTopic();
      const group = newGroup();
      const records = plainRecords(400, 40);
      await using stays = fixture.open();
      await stays.subscribe({ group, topic, handle: writeEffects(group) });
      {
        await using leaves = fixture.open();
        await leaves.subscribe({ group, topic, handle: writeEffects(group) });
        await publish(leaves, topic, records.slice(0, 200));
        await eventually(async () => (await readValues(group)).length > 0);
      }
      await publish(stays, topic, records.slice(200));
      await expectAll(group, records);
    });

    test("a topic that is truncated and filled again is consumed from its beginning", async () => {
      const topic = await makeTopic();
      const group = newGroup();
      const records = plainRecords(200, 10);
      await using bus = fixture.open();
      const subscription = await bus.subscribe({ group, topic, handle: writeEffects(group) });
      await publish(bus, topic, records.slice(0, 50));
      await expectAll(group, records.slice(0, 50));
      await fixture.truncate(topic);
      await publish(bus, topic, records.slice(50, 100));
      await expectAll(group, records.slice(0, 100));
      await subscription[Symbol.asyncDispose]();
      await publish(bus, topic, plainRecords(50, 10));
      await fixture.truncate(topic);
      await publish(bus, topic, records.slice(100));
      await bus.subscribe({ group, topic, handle: writeEffects(group) });
      await expectAll(group, records);
    });

    test("the outbox relay publishes the events of one outbox to the topics of their types, in order", async () => {
      const [first, second] = [await makeTopic(), await makeTopic()];
      const topicOf = (type: string) => (type === MediaReadySchema.typeName ? second : first);
      await using bus = fixture.open();
      const groups = [newGroup(), newGroup()] as const;
      await bus.subscribe({ group: groups[0], topic: first, handle: writeEffects(groups[0]) });
      await bus.subscribe({ group: groups[1], topic: second, handle: writeEffects(groups[1]) });
      const appended = Array.from({ length: 40 }, (_, version) =>
        version % 4 === 0
          ? outboxEvent(MediaReadySchema, { version: BigInt(version) }, "k")
          : outboxEvent(AccountConnectedSchema, { version: BigInt(version) }, "k"),
      );
      await sql.begin((tx) => appendEvents(tx, appended));
      await using _relay = startRelay({ sql, bus, service: "sample", topicOf, logger });
      const readVersions = async (group: string) =>
        (await readValues(group)).map(
          (value) => (JSON.parse(value) as { version?: string }).version ?? "0",
        );
      const versions = Array.from({ length: 40 }, (_, version) => String(version));
      const isSecond = (version: string) => Number(version) % 4 === 0;
      await eventually(async () => {
        expect(await readVersions(groups[0])).toEqual(versions.filter((each) => !isSecond(each)));
        expect(await readVersions(groups[1])).toEqual(versions.filter(isSecond));
      });
    });

    const consume = async (
      bus: Bus,
      topic: string,
      group: string,
      work: (accountIds: readonly string[]) => Promise<void>,
      options: Partial<ConsumerOptions> = {},
    ): Promise<void> => {
      const handler = handleEvents(AccountConnectedSchema, async (tx, events) => {
        const rows = events.map(({ message }) => ({
          group_name: group,
          key: message.accountId,
          value: message.accountId,
        }));
        await tx`insert into effects ${tx(rows)}`;
        await work(rows.map((row) => row.value));
      });
      await startConsumer({ bus, sql, group, topic, handlers: [handler], logger, ...options });
    };

    const readParked = async (topic: string) =>
      await sql`select event_id, type, error, attempt_count from parked_events where topic = ${topic}`;

    test("an event whose handler always fails is parked after 5 tries, and every other event takes effect once", async () => {
      const topic = await makeTopic();
      const group = newGroup();
      await using bus = fixture.open();
      const records = events(250);
      let faultyCalls = 0;
      await consume(bus, topic, group, async (ids) => {
        if (!ids.includes("a77")) return;
        if (ids.length === 1) faultyCalls += 1;
        throw new TypeError("cannot handle a77");
      });
      await publish(bus, topic, records);
      const good = records.filter(({ key }) => key !== "a77").map(({ key }) => key);
      await eventually(async () =>
        expect((await readValues(group)).toSorted()).toEqual(good.toSorted()),
      );
      await eventually(async () =>
        expect(await readParked(topic)).toEqual([
          {
            eventId: records[77]?.headers.ce_id,
            type: AccountConnectedSchema.typeName,
            error: "TypeError: cannot handle a77",
            attemptCount: 5,
          },
        ]),
      );
      expect(faultyCalls).toBe(5);
    });

    test("an event that is not valid JSON is parked, and an event with unknown fields is handled", async () => {
      const topic = await makeTopic();
      const group = newGroup();
      await using bus = fixture.open();
      const [broken, newer, plain] = events(3);
      await consume(bus, topic, group, () => Promise.resolve());
      await publish(bus, topic, [
        { ...present(broken), value: "not json" },
        { ...present(newer), value: '{"accountId":"newer","invented":{"later":[1]}}' },
        present(plain),
      ]);
      await eventually(async () =>
        expect((await readValues(group)).toSorted()).toEqual(["a2", "newer"]),
      );
      await eventually(async () =>
        expect(await readParked(topic)).toMatchObject([
          { eventId: broken?.headers.ce_id, attemptCount: 5 },
        ]),
      );
    });

    test("an event whose handler fails with an infrastructure error is retried until the error ends, and is not parked", async () => {
      const topic = await makeTopic();
      const group = newGroup();
      await using bus = fixture.open();
      const troubles = [
        unavailable(),
        Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" }),
        Object.assign(new Error("deadlock detected"), { code: "40P01" }),
      ];
      let calls = 0;
      await consume(bus, topic, group, async () => {
        calls += 1;
        const trouble = troubles[calls % troubles.length];
        if (calls <= 4 && trouble !== undefined) throw trouble;
      });
      await publish(bus, topic, [present(events(1)[0])]);
      await eventually(async () => expect(await readValues(group)).toEqual(["a0"]));
      expect(calls).toBe(5);
      expect(await readParked(topic)).toEqual([]);
    });

    test("an event of an unknown type is retried for a while and then parked, and an event of a known type without a handler is skipped", async () => {
      const topic = await makeTopic();
      const group = newGroup();
      await using bus = fixture.open();
      const [stranger, sibling, known] = events(3);
      await consume(bus, topic, group, () => Promise.resolve(), { unknownTypeWaitMs: 1_500 });
      const sent = performance.now();
      await publish(bus, topic, [
        retyped(present(stranger), "postrider.accounts.v2.AccountMerged"),
        retyped(present(sibling), "postrider.accounts.v1.AccountReconnectRequired"),
        present(known),
      ]);
      await eventually(async () => expect(await readValues(group)).toEqual(["a2"]));
      await eventually(async () =>
        expect(await readParked(topic)).toMatchObject([
          {
            type: "postrider.accounts.v2.AccountMerged",
            error: "Error: there is no handler for this type of event",
          },
        ]),
      );
      expect(performance.now() - sent).toBeGreaterThan(1_000);
    });
  });
}

/** Returns test records numbered from 0 to `count` - 1, with alternating keys. */
function plainRecords(count: number, keys: number): readonly BusRecord[] {
  const run = newId();
  return Array.from({ length: count }, (_, index) => ({
    key: `k${index % keys}`,
    headers: { ce_id: `${run}-${index}` },
    value: `${run}-${index}`,
  }));
}

/** Returns events `AccountConnected` of the accounts a0, a1, … */
function events(count: number): readonly BusRecord[] {
  return Array.from({ length: count }, (_, index) => {
    const accountId = `a${index}`;
    const payload = toJsonString(
      AccountConnectedSchema,
      create(AccountConnectedSchema, { accountId }),
    );
    const event = {
      eventId: newId(),
      type: AccountConnectedSchema.typeName,
      key: accountId,
      payload,
      headers: {},
    };
    return toRecord(event, "/postrider/test", new Date());
  });
}

function retyped(record: BusRecord, type: string): BusRecord {
  return { ...record, headers: { ...record.headers, ce_type: type } };
}

function present<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("missing");
  return value;
}

function byKey(records: readonly { key: string; value: string }[]): Record<string, string[]> {
  const groups = Map.groupBy(records, (record) => record.key);
  return Object.fromEntries(
    [...groups].map(([key, group]) => [key, group.map(({ value }) => value)]),
  );
}
