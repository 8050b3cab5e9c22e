import kafkajs, { Kafka, logLevel } from "kafkajs";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { TailRecord } from "#src/bus.ts";
import { withAdmin } from "#src/bus/kafka-client.ts";
import { startKafkaTail } from "#src/bus/kafka-tail.ts";
import { createKafkaBus, ensureTopics } from "#src/bus/kafka.ts";
import { newId } from "#src/ids.ts";
import { eventually } from "#src/testing/poll.ts";
import { describeBus } from "./bus-contract.ts";
import { describeCopies } from "./kafka-copies.ts";
import { describePredecessors } from "./kafka-predecessors.ts";
import { startTestKafka, type TestKafka } from "./test-kafka.ts";
import { createDatabase, logger, OWN_DATA } from "./test-service.ts";

// ES modules cannot import it by its name.
const { TOPIC } = kafkajs.ConfigResourceTypes;

let broker: TestKafka;
beforeAll(async () => {
  broker = await startTestKafka();
}, 180_000);
afterAll(() => broker[Symbol.asyncDispose]());

// These tests use a real Kafka broker. Without Java or Maven they fail instead of being skipped.
describeBus("the Kafka bus", async () => {
  const database = await createDatabase(12);
  const { sql } = database;
  const { brokers } = broker;
  const admin = new Kafka({ brokers: [...brokers], logLevel: logLevel.NOTHING });
  return {
    sql,
    open: () =>
      createKafkaBus({
        brokers,
        sql,
        clientId: "test",
        ...OWN_DATA,
        logger,
        onFatal: (error) => {
          throw error;
        },
      }),
    makeTopic: (topic) => ensureTopics({ brokers, clientId: "test", logger }, [topic], 3),
    truncate: (topic) =>
      withAdmin(admin, async (client) => {
        const ends = await client.fetchTopicOffsets(topic);
        const partitions = ends.map(({ partition, high }) => ({ partition, offset: high }));
        await client.deleteTopicRecords({ topic, partitions });
      }),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
});

// Here, because a broker takes seconds of processor time to start.
describeCopies(() => broker);
describePredecessors(() => broker);

test("of fewer than three brokers a record is on disk before it counts as sent, so that a power failure loses no event", async () => {
  const { brokers } = broker;
  const kafka = new Kafka({ brokers: [...brokers], logLevel: logLevel.NOTHING });
  const name = `sample.disk-${newId()}`;
  await ensureTopics({ brokers, clientId: "test", logger }, [name], 1);
  const { resources } = await withAdmin(kafka, (admin) =>
    admin.describeConfigs({
      includeSynonyms: false,
      resources: [{ type: TOPIC, name, configNames: ["flush.messages"] }],
    }),
  );
  expect(resources[0]?.configEntries[0]?.configValue).toBe("1");
});

test("a tail goes on where it ended when its consumer crashes and joins the group again", async () => {
  const { brokers } = broker;
  const kafka = new Kafka({ brokers: [...brokers], logLevel: logLevel.NOTHING });
  const topic = `sample.tail-${newId()}`;
  await ensureTopics({ brokers, clientId: "test", logger }, [topic], 1);
  const producer = kafka.producer();
  await producer.connect();
  const keys: string[] = [];
  let tries = 0;
  const onRecords = (records: readonly TailRecord[]) => {
    tries += 1;
    // More often than kafkajs tries again without a crash.
    if (tries <= 6) throw new Error("the first tries fail");
    keys.push(...records.map(({ key }) => key));
  };
  const tail = { group: `tail-${newId()}`, topics: [topic], onStart: () => {}, onRecords };
  await using _tail = await startKafkaTail(tail, { kafka, isOwn: () => true });
  await producer.send({ topic, messages: [{ key: "a", value: "a" }] });
  await eventually(() => expect(keys).toEqual(["a"]));
  await producer.disconnect();
});
