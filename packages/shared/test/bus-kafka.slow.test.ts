import { Kafka, logLevel } from "kafkajs";
import { withAdmin } from "#src/bus/kafka-client.ts";
import { createKafkaBus, ensureTopics } from "#src/bus/kafka.ts";
import { disposeInOrder } from "#src/process/lifecycle.ts";
import { describeBus } from "./bus-contract.ts";
import { startTestKafka } from "./test-kafka.ts";
import { createDatabase, logger, OWN_DATA } from "./test-service.ts";

// These tests use a real Kafka broker. Without Java or Maven they fail instead of being skipped.
describeBus("the Kafka bus", async () => {
  const [database, broker] = await Promise.all([createDatabase(12), startTestKafka()]);
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
    [Symbol.asyncDispose]: () => disposeInOrder([database, broker]),
  };
});
