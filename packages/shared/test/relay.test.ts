import { AccountConnectedSchema } from "@postrider/contracts/accounts/v1/accounts_events_pb";
import { PostPublishRequestedSchema as BacklogRequestSchema } from "@postrider/contracts/backlog/v1/backlog_events_pb";
import { MediaReadySchema } from "@postrider/contracts/media/v1/media_events_pb";
import { afterAll, beforeEach, expect, test } from "vitest";
import { RefusedRecordsError, type Bus, type BusRecord } from "#src/bus.ts";
import { appendEvents, outboxEvent } from "#src/outbox.ts";
import { startRelay } from "#src/outbox/relay.ts";
import { createLogger } from "#src/telemetry/logger.ts";
import { renderMetrics } from "#src/telemetry/metrics.ts";
import { eventually } from "#src/testing/poll.ts";
import { createDatabase, logger } from "./test-service.ts";

const topic = "accounts.events.v1";
const service = "sample";

const database = await createDatabase();

beforeEach(async () => {
  await database.migrationSql`truncate outbox, parked_events`;
});

afterAll(() => database[Symbol.asyncDispose]());

/** A request with which the relay published events, and which the broker accepted. */
interface Request {
  readonly topic: string;
  readonly keys: readonly string[];
}

/** An in-memory broker that can fail like a real one. */
function createBroker(
  accept: (records: readonly BusRecord[]) => Promise<void>,
  system: Bus["system"] = "postgresql",
): Bus & { readonly taken: string[]; readonly requests: Request[] } {
  const taken: string[] = [];
  const requests: Request[] = [];
  return {
    taken,
    requests,
    async publish(_tx, topic, records) {
      await accept(records);
      const keys = records.map(({ key }) => key);
      taken.push(...keys);
      requests.push({ topic, keys });
    },
    system,
    isHeld: () => Promise.resolve(false),
    check: () => Promise.resolve(),
    subscribe: () => Promise.reject(new Error("nobody subscribes here")),
    tail: () => Promise.reject(new Error("nobody reads here")),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

const append = (keys: readonly string[]) =>
  database.sql.begin((tx) =>
    appendEvents(
      tx,
      keys.map((key) => outboxEvent(AccountConnectedSchema, { accountId: key }, key)),
    ),
  );

const relayTo = (bus: ReturnType<typeof createBroker>, pollMs: number) =>
  startRelay({ sql: database.sql, bus, service, logger, pollMs });

/** Waits for `ms` milliseconds, like a slow broker before it answers. */
const answerAfter = async (ms: number): Promise<void> => {
  const { promise, resolve } = Promise.withResolvers<void>();
  setTimeout(resolve, ms);
  await promise;
};

const countOutbox = async (): Promise<number> => (await database.sql`select 1 from outbox`).length;

test("an event that the broker refuses permanently is parked, and all other events are published in order", async () => {
  const broker = createBroker((records) =>
    records.some(({ key }) => key === "k3" || key === "k8")
      ? Promise.reject(new RefusedRecordsError("MESSAGE_TOO_LARGE"))
      : Promise.resolve(),
  );
  const keys = Array.from({ length: 20 }, (_, index) => `k${index}`);
  await append(keys);
  await using _relay = relayTo(broker, 5);
  await eventually(async () => expect(await countOutbox()).toBe(0));
  expect(broker.taken).toEqual(keys.filter((key) => key !== "k3" && key !== "k8"));
  const parked = await database.sql`
    select key, direction, topic, type, payload, error from parked_events order by id`;
  expect(parked).toEqual(
    ["k3", "k8"].map((key) => ({
      key,
      direction: "out",
      topic,
      type: "postrider.accounts.v1.AccountConnected",
      payload: `{"accountId":"${key}"}`,
      error: "RefusedRecordsError: MESSAGE_TOO_LARGE",
    })),
  );
});

test("an event is published before those of a backlog that were committed earlier", async () => {
  const backlog = Array.from({ length: 600 }, (_, index) => `late ${index}`);
  await database.sql.begin((tx) =>
    appendEvents(
      tx,
      backlog.map((key) => outboxEvent(BacklogRequestSchema, { postId: key }, key)),
    ),
  );
  await append(["other"]);
  const broker = createBroker(() => Promise.resolve());

  await using _relay = startRelay({ sql: database.sql, bus: broker, service: "posts", logger });

  await eventually(async () => expect(await countOutbox()).toBe(0));
  expect(broker.taken).toEqual(["other", ...backlog]);
});

/**
 * Appends one event per key: events of media for keys that begin with "m", events of accounts for
 * all other keys.
 */
const appendMixed = (keys: readonly string[]) =>
  database.sql.begin((tx) =>
    appendEvents(
      tx,
      keys.map((key) =>
        key.startsWith("m")
          ? outboxEvent(MediaReadySchema, { mediaId: key }, key)
          : outboxEvent(AccountConnectedSchema, { accountId: key }, key),
      ),
    ),
  );

test.each(["kafka", "postgresql"] as const)(
  "an outbox relay sends each event to the topic of its type in requests of one topic, and keeps the order of each topic, on the bus of %s",
  async (system) => {
    const broker = createBroker(() => Promise.resolve(), system);
    await appendMixed(["a1", "m1", "a2", "a3", "m2", "a4"]);
    const before = await readPublished();
    await using _relay = relayTo(broker, 5);
    await eventually(async () => expect(await countOutbox()).toBe(0));
    expect(broker.requests).toEqual([
      { topic, keys: ["a1", "a2", "a3", "a4"] },
      { topic: "media.events.v1", keys: ["m1", "m2"] },
    ]);
    // The metric also counts topics of other tests in this process, so only the topics of this test
    // are compared.
    expect(await readPublished()).toMatchObject({
      [topic]: (before[topic] ?? 0) + 4,
      "media.events.v1": (before["media.events.v1"] ?? 0) + 2,
    });
  },
);

/** Reads from the process's metrics how many events were published to each topic. */
async function readPublished(): Promise<Readonly<Record<string, number>>> {
  const { body } = await renderMetrics();
  const series = body.matchAll(/^events_published_total\{topic="(.+)"\} (\d+)$/gm);
  return Object.fromEntries([...series].map(([, name, count]) => [name, Number(count)]));
}

test("the outbox relay parks events that the broker refuses, each with the topic of its type", async () => {
  const broker = createBroker(() => Promise.reject(new RefusedRecordsError("MESSAGE_TOO_LARGE")));
  await appendMixed(["a1", "m1"]);
  await using _relay = relayTo(broker, 5);
  await eventually(async () => expect(await countOutbox()).toBe(0));
  expect(await database.sql`select key, topic from parked_events order by key`).toEqual([
    { key: "a1", topic },
    { key: "m1", topic: "media.events.v1" },
  ]);
});

test("while the event bus is unavailable, events stay in the outbox, and the outbox relay publishes them when the bus is back", async () => {
  let calls = 0;
  const broker = createBroker(() => {
    calls += 1;
    return calls < 4 ? Promise.reject(new Error("connect ECONNREFUSED")) : Promise.resolve();
  });
  await using relay = relayTo(broker, 5);
  await append(["a", "b"]);
  relay.nudge();
  await eventually(() => calls >= 2);
  expect(await countOutbox()).toBe(2);
  await eventually(async () => expect(await countOutbox()).toBe(0));
  expect(broker.taken).toEqual(["a", "b"]);
  expect(await database.sql`select 1 from parked_events`).toHaveLength(0);
});

test.each(["kafka", "postgresql"] as const)(
  "events of other topics are published on the %s bus although one topic fails with more events than a pass reads",
  async (system) => {
    let isBroken = true;
    const broker = createBroker(
      (records) =>
        isBroken && records.some(({ key }) => key.startsWith("a"))
          ? Promise.reject(new Error("the partition has no leader"))
          : Promise.resolve(),
      system,
    );
    const stuck = Array.from({ length: 600 }, (_, index) => `a${String(index).padStart(3, "0")}`);
    await append(stuck);
    await database.sql.begin((tx) =>
      appendEvents(tx, [outboxEvent(MediaReadySchema, { mediaId: "m" }, "m")]),
    );
    await using _relay = relayTo(broker, 10);

    await eventually(() => broker.taken.includes("m"));
    expect(broker.taken).toEqual(["m"]);

    isBroken = false;
    await eventually(async () => expect(await countOutbox()).toBe(0));
    expect(broker.taken).toEqual(["m", ...stuck]);
  },
);

test("notifications of new events do not shorten the pause of an outbox relay while the event bus is unavailable", async () => {
  let calls = 0;
  const broker = createBroker(() => {
    calls += 1;
    return Promise.reject(new Error("connect ECONNREFUSED"));
  });
  await append(["a"]);
  await using relay = relayTo(broker, 5);
  const end = performance.now() + 600;
  await eventually(() => {
    relay.nudge();
    return performance.now() > end;
  });
  // In 600 ms there are only about four requests to the event bus, because the pauses between them
  // are about 100, 200 and 400 ms.
  expect(calls).toBeLessThanOrEqual(5);
});

test("an outbox relay tries again at most a second after a failure, however often the event bus has failed", async () => {
  const pauses: number[] = [];
  const write = (line: string): void => void pauses.push(Number(JSON.parse(line).delayMs));
  const bus = createBroker(() => Promise.reject(new Error("connect ECONNREFUSED")));
  await append(["a"]);
  await using _relay = startRelay({
    sql: database.sql,
    bus,
    service,
    logger: createLogger({ service, level: "warn", destination: { write } }),
    pollMs: 5,
  });
  await eventually(() => expect(pauses).toHaveLength(6));
  expect(Math.max(...pauses)).toBe(1_000);
});

test("an outbox relay publishes a backlog of events that is larger than one pass completely and in order", async () => {
  const broker = createBroker(() => Promise.resolve());
  const keys = Array.from({ length: 1_700 }, (_, index) => `k${index}`);
  await append(keys);
  await using _relay = relayTo(broker, 60_000);
  await eventually(async () => expect(await countOutbox()).toBe(0));
  expect(broker.taken).toEqual(keys);
});

test("an outbox relay releases its lock within the deadline when the event bus does not answer", async () => {
  let calls = 0;
  const broker = createBroker(() => {
    calls += 1;
    return calls === 1 ? new Promise(() => undefined) : Promise.resolve();
  });
  await append(["a"]);
  await using _relay = startRelay({
    sql: database.sql,
    bus: broker,
    service,
    logger,
    pollMs: 5,
    publishTimeoutMs: 200,
  });
  await eventually(async () => expect(await countOutbox()).toBe(0));
  expect(broker.taken).toEqual(["a"]);
  expect(calls).toBe(2);
});

const relayWithDeadline = (bus: ReturnType<typeof createBroker>, publishTimeoutMs: number) =>
  startRelay({ sql: database.sql, bus, service, logger, pollMs: 5, publishTimeoutMs });

test("an outbox relay publishes in smaller requests when Kafka is too slow for large requests", async () => {
  const sizes: number[] = [];
  const broker = createBroker(async (records) => {
    sizes.push(records.length);
    if (records.length <= 8) return;
    await answerAfter(60);
    throw new Error("Request Produce timed out");
  }, "kafka");
  const keys = Array.from({ length: 100 }, (_, index) => `k${index}`);
  await append(keys);
  await using _relay = relayWithDeadline(broker, 30);
  await eventually(async () => expect(await countOutbox()).toBe(0));
  expect(broker.taken).toEqual(keys);
  expect(sizes.slice(0, 5)).toEqual([100, 50, 25, 12, 6]);
});

test("an outbox relay deletes the events that Kafka has acknowledged even if Kafka does not answer a later request of the same pass", async () => {
  const held = Promise.withResolvers<void>();
  let calls = 0;
  const broker = createBroker(() => {
    calls += 1;
    return calls === 1 ? Promise.resolve() : held.promise;
  }, "kafka");
  const keys = Array.from({ length: 20 }, (_, index) => `k${index}`.padEnd(60_000, "."));
  await append(keys);
  await using _relay = relayWithDeadline(broker, 100);
  await eventually(async () => expect(await countOutbox()).toBe(12));
  expect(broker.taken).toEqual(keys.slice(0, 8));
  held.resolve();
  await eventually(async () => expect(await countOutbox()).toBe(0));
  expect(broker.taken).toEqual(keys);
});

test("an outbox relay does not send events again when Kafka acknowledges them after the deadline", async () => {
  const sent: string[] = [];
  const answer = Promise.withResolvers<void>();
  const broker = createBroker(async (records) => {
    sent.push(...records.map(({ key }) => key));
    if (sent.length === 2) await answer.promise;
  }, "kafka");
  await append(["a", "b"]);
  await using relay = relayWithDeadline(broker, 20);
  await eventually(() => sent.length > 0);
  await append(["c"]);
  setTimeout(() => answer.resolve(), 400);
  await eventually(async () => {
    relay.nudge();
    expect(await countOutbox()).toBe(0);
  });
  expect(sent).toEqual(["a", "b", "c"]);
  expect(broker.taken).toEqual(["a", "b", "c"]);
});
