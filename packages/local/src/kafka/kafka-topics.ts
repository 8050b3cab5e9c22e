import { TOPICS } from "@postrider/shared/bus/topics";
import { Kafka, logLevel } from "kafkajs";
import { poll } from "#src/processes/poll.ts";
import { databaseServices } from "#src/stack/services.ts";

const partitions = 12;

/**
 * Creates the missing Kafka topics, and requests the offsets of every consumer group until the broker answers. A new
 * broker is still loading its group coordinator, which consumers would report as a failure.
 */
export async function prepareTopics(brokers: readonly string[]): Promise<void> {
  const kafka = new Kafka({
    clientId: "postrider-local",
    brokers: [...brokers],
    logLevel: logLevel.NOTHING,
  });
  const admin = kafka.admin();
  await admin.connect();
  try {
    const cluster = await admin.describeCluster();
    const replicationFactor = Math.min(3, cluster.brokers.length);
    await admin.createTopics({
      waitForLeaders: true,
      topics: TOPICS.map((topic) => ({ topic, numPartitions: partitions, replicationFactor })),
    });
    const warm = async (groupId: string): Promise<true | undefined> => {
      try {
        await admin.fetchOffsets({ groupId, topics: [...TOPICS] });
        return true;
      } catch {
        return undefined;
      }
    };
    for (const service of databaseServices)
      await poll(() => warm(service), { everyMs: 50, timeoutMs: 10_000 });
  } finally {
    await admin.disconnect();
  }
}
