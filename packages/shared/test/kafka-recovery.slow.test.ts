import { rmSync } from "node:fs";
import { join } from "node:path";
import { AccountConnectedSchema } from "@postrider/contracts/accounts/v1/accounts_events_pb";
import { afterAll, beforeAll, expect, test } from "vitest";
import { RefusedRecordsError, type Bus, type BatchHandler } from "#src/bus.ts";
import { openKafka, withAdmin } from "#src/bus/kafka-client.ts";
import { createKafkaBus, ensureTopics, type KafkaBusOptions } from "#src/bus/kafka.ts";
import { newId } from "#src/ids.ts";
import { appendEvents, outboxEvent } from "#src/outbox.ts";
import { startRelay } from "#src/outbox/relay.ts";
import { createLogger } from "#src/telemetry/logger.ts";
import type { TestDatabase } from "#src/testing/database.ts";
import { eventually } from "#src/testing/poll.ts";
import { startKafka, type EmbeddedKafka } from "../../local/src/kafka/kafka.ts";
import { makeTestFolder } from "../../local/src/stack/test-folder.ts";
import { createDatabase, logger, OWN_DATA } from "./test-service.ts";

/**
 * Settings of the Kafka broker: it refuses consumers that request a session timeout of more than 6
 * s, and the third member of a group.
 */
const BROKER = { "group.max.session.timeout.ms": "6000", "group.max.size": "2" };

let database: TestDatabase;
let folder: string;
let kafka: EmbeddedKafka;

beforeAll(async () => {
  folder = makeTestFolder("kafka-recovery");
  [database, kafka] = await Promise.all([
    createDatabase(),
    startKafka({ dataDir: join(folder, "data"), properties: () => BROKER }),
  ]);
});

afterAll(async () => {
  await database[Symbol.asyncDispose]();
  await kafka[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

const client = () => ({ brokers: kafka.brokers, clientId: "test", logger });

function open(options: Partial<KafkaBusOptions> = {}): Bus {
  const onFatal = (error: unknown) => {
    throw error;
  };
  return createKafkaBus({
    ...client(),
    ...OWN_DATA,
    sql: database.sql,
    onFatal,
    ...options,
  });
}

async function makeTopic(): Promise<string> {
  const topic = `recovery-${newId()}`;
  await ensureTopics(client(), [topic], 2);
  return topic;
}

const publish = (bus: Bus, topic: string, keys: readonly string[], bytes = 10) =>
  database.sql.begin((tx) =>
    bus.publish(
      tx,
      topic,
      keys.map((key) => ({ key, headers: {}, value: "x".repeat(bytes) })),
    ),
  );

async function countMembers(groupId: string): Promise<number> {
  const { groups } = await withAdmin(openKafka(client()), (admin) =>
    admin.describeGroups([groupId]),
  );
  return groups.flatMap(({ members }) => members).length;
}

function collect(): { readonly seen: string[]; readonly handle: BatchHandler } {
  const seen: string[] = [];
  return { seen, handle: async (_tx, records) => void seen.push(...records.map(({ key }) => key)) };
}

test("a record that is too large for the Kafka broker is refused, and 60 large records within the limit are accepted in one call", async () => {
  const topic = await makeTopic();
  await using bus = open();
  await expect(publish(bus, topic, ["huge"], 2_000_000)).rejects.toBeInstanceOf(
    RefusedRecordsError,
  );
  const { seen, handle } = collect();
  await bus.subscribe({ group: "g", topic, handle });
  const keys = Array.from({ length: 60 }, (_, index) => `k${index}`);
  await publish(bus, topic, keys, 65_536);
  await eventually(() => expect(seen.toSorted()).toEqual(keys.toSorted()));
});

test("after a Kafka broker is killed and restarted, no record is lost and consumers continue by themselves", async () => {
  const topic = await makeTopic();
  await using bus = open();
  await using relay = startRelay({
    sql: database.sql,
    bus,
    service: "sample",
    topicOf: () => topic,
    logger,
  });
  const { seen, handle } = collect();
  await bus.subscribe({ group: "g", topic, handle });
  const send = async (keys: readonly string[]) => {
    const events = keys.map((key) => outboxEvent(AccountConnectedSchema, { accountId: key }, key));
    await database.sql.begin((tx) => appendEvents(tx, events));
    relay.nudge();
  };
  await send(["before"]);
  await eventually(() => seen.includes("before"));

  const { port, pid, exited } = kafka;
  process.kill(pid, "SIGKILL");
  await exited;
  await send(["during-1"]);
  await send(["during-2"]);
  expect(await database.sql`select 1 from outbox`).toHaveLength(2);

  kafka = await startKafka({ dataDir: join(folder, "data"), port, properties: () => BROKER });
  await eventually(() => expect(seen).toEqual(expect.arrayContaining(["during-1", "during-2"])));
  await send(["after"]);
  await eventually(() => expect(seen).toContain("after"));
  // A consumer may get a record before Kafka confirms this record to the outbox relay, and only
  // then does the relay delete the event from the outbox. So the test waits until the outbox is
  // empty.
  await eventually(async () => expect(await database.sql`select 1 from outbox`).toHaveLength(0));
});

test("a Kafka consumer joins its group with a session timeout of at most 6 s, which is how long a killed process delays its group", async () => {
  // The Kafka broker of this test refuses a consumer that requests a session timeout of more than 6
  // s.
  const topic = await makeTopic();
  await using bus = open();
  const { seen, handle } = collect();
  await bus.subscribe({ group: "g", topic, handle });
  await publish(bus, topic, ["a"]);
  await eventually(() => expect(seen).toEqual(["a"]));
});

test("a Kafka consumer that the broker refuses tries again until it is accepted, and its process goes on", async () => {
  const topic = await makeTopic();
  const { seen, handle } = collect();
  const errors: unknown[] = [];
  const write = (line: string): void => void errors.push(line);
  // On a busy machine one of the first two may lose its place to the third, and be refused then.
  const watched = {
    onFatal: (error: unknown) => errors.push(error),
    logger: createLogger({ service: "test", level: "warn", destination: { write } }),
  };
  const members = [open(watched), open(watched)];
  for (const member of members) await member.subscribe({ group: "g", topic, handle });
  await eventually(async () => expect(await countMembers(`g.${topic}.test`)).toBe(2));
  await using third = open(watched);
  await third.subscribe({ group: "g", topic, handle });
  await eventually(() => expect(String(errors)).toContain("has reached its max size"));
  expect(errors.filter((error) => error instanceof Error)).toEqual([]);
  await Promise.all(members.map((member) => member[Symbol.asyncDispose]()));
  await publish(third, topic, ["b"]);
  await eventually(() => expect(seen).toEqual(["b"]));
  expect(errors.filter((error) => error instanceof Error)).toEqual([]);
});

test("a Kafka consumer whose handler never returns leaves its group and joins it again; if it is still stuck after that, its process ends", async () => {
  const topic = await makeTopic();
  const fatal: unknown[] = [];
  let calls = 0;
  const bus = open({ stallMs: 400, onFatal: (error) => fatal.push(error) });
  const hang = Promise.withResolvers<void>();
  await bus.subscribe({
    group: "stuck",
    topic,
    handle: async () => {
      calls += 1;
      await hang.promise;
    },
  });
  await publish(bus, topic, ["a"]);
  await eventually(() => expect(String(fatal[0])).toContain("is stuck"));
  expect(calls).toBeGreaterThanOrEqual(1);
  hang.resolve();
  await bus[Symbol.asyncDispose]();
});

test("a Kafka consumer that is idle or waits for a dependency is not treated as stuck", async () => {
  const [idle, waiting] = [await makeTopic(), await makeTopic()];
  const fatal: unknown[] = [];
  await using bus = open({ stallMs: 200, onFatal: (error) => fatal.push(error) });
  const { seen, handle } = collect();
  await bus.subscribe({ group: "idle", topic: idle, handle });
  let tries = 0;
  await bus.subscribe({
    group: "waiting",
    topic: waiting,
    handle: () => {
      tries += 1;
      return tries < 5 ? Promise.reject(new Error("connect ECONNREFUSED")) : Promise.resolve();
    },
  });
  await publish(bus, waiting, ["w"]);
  await eventually(() => tries === 5);
  await publish(bus, idle, ["i"]);
  await eventually(() => seen.includes("i"));
  expect(fatal).toEqual([]);
});

test("a Kafka consumer waits for a topic that does not exist yet, and never creates the topic", async () => {
  const topic = `late-${newId()}`;
  await using bus = open();
  const { seen, handle } = collect();
  await bus.subscribe({ group: "g", topic, handle });
  await expect(publish(bus, topic, ["too early"])).rejects.toThrow(
    "This server does not host this topic-partition",
  );
  expect(await withAdmin(openKafka(client()), (admin) => admin.listTopics())).not.toContain(topic);
  await ensureTopics(client(), [topic], 2);
  await publish(bus, topic, ["now"]);
  await eventually(() => expect(seen).toEqual(["now"]));
});

test("the Kafka bus closes without delay even if it cannot reach any broker", async () => {
  const topic = await makeTopic();
  const bus = open({ brokers: ["127.0.0.1:1"] });
  await bus.subscribe({ group: "g", topic, handle: () => Promise.resolve() });
  await expect(publish(bus, topic, ["a"])).rejects.toThrow("ECONNREFUSED");
  const start = performance.now();
  await bus[Symbol.asyncDispose]();
  expect(performance.now() - start).toBeLessThan(5_000);
});
