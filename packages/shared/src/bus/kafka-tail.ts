import type { Kafka, KafkaMessage } from "kafkajs";
import type { Tail, TailRecord } from "#src/bus.ts";
import { withAdmin } from "#src/bus/kafka-client.ts";
import { toBusRecord } from "#src/bus/kafka-record.ts";

interface KafkaTailOptions {
  readonly kafka: Kafka;
  /** Records of other deployments on the same brokers are left out. */
  readonly isOwn: (record: TailRecord) => boolean;
}

const placeOf = (topic: string, partition: number) => `${topic}/${partition}`;

/** Offsets are never committed, so nothing of the group stays on the brokers. */
export async function startKafkaTail(
  { group, topics, onStart, onRecords }: Tail,
  { kafka, isOwn }: KafkaTailOptions,
): Promise<AsyncDisposable> {
  const ends = await withAdmin(kafka, (admin) =>
    Promise.all(
      topics.map(async (topic) => ({ topic, offsets: await admin.fetchTopicOffsets(topic) })),
    ),
  );
  const starts = ends.flatMap(({ topic, offsets }) =>
    offsets.map(({ partition, high }) => ({ topic, partition, offset: high })),
  );
  const consumer = kafka.consumer({ groupId: group, maxWaitTimeInMs: 500, minBytes: 1 });
  await consumer.connect();
  await consumer.subscribe({ topics: [...topics], fromBeginning: false });
  onStart(
    new Map(
      starts.map(({ topic, partition, offset }) => [placeOf(topic, partition), Number(offset) - 1]),
    ),
  );
  await consumer.run({
    autoCommit: false,
    eachBatch: async ({ batch: { topic, partition, messages } }) => {
      const toRecord = (message: KafkaMessage): TailRecord => ({
        ...toBusRecord(message),
        place: placeOf(topic, partition),
        offset: Number(message.offset),
      });
      const records = messages.map(toRecord).filter(isOwn);
      if (records.length > 0) onRecords(records);
      await Promise.resolve();
    },
  });
  for (const start of starts) consumer.seek(start);
  return { [Symbol.asyncDispose]: () => consumer.disconnect() };
}
