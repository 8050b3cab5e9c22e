import type { Kafka, KafkaMessage } from "kafkajs";
import type { Tail, TailRecord } from "#src/bus.ts";
import { keepRunning, MEMBERSHIP, withAdmin } from "#src/bus/kafka-client.ts";
import { toBusRecord } from "#src/bus/kafka-record.ts";

interface KafkaTailOptions {
  readonly kafka: Kafka;
  /** Records of other deployments on the same brokers are left out. */
  readonly isOwn: (record: TailRecord) => boolean;
}

const placeOf = (topic: string, partition: number) => `${topic}/${partition}`;

interface Place {
  readonly topic: string;
  readonly partition: number;
  /** Of the next record. */
  readonly offset: number;
}

async function findEnds(kafka: Kafka, topics: readonly string[]): Promise<Map<string, Place>> {
  const ends = await withAdmin(kafka, (admin) =>
    Promise.all(
      topics.map(async (topic) => {
        const offsets = await admin.fetchTopicOffsets(topic);
        return offsets.map(({ partition, high }) => ({ topic, partition, offset: Number(high) }));
      }),
    ),
  );
  return new Map(ends.flat().map((end) => [placeOf(end.topic, end.partition), end]));
}

/**
 * Offsets are never committed, so nothing of the group stays on the brokers. Each time the consumer
 * joins its group, also after an outage, it goes on where it ended.
 */
export async function startKafkaTail(
  { group, topics, onStart, onRecords }: Tail,
  { kafka, isOwn }: KafkaTailOptions,
): Promise<AsyncDisposable> {
  const next = await findEnds(kafka, topics);
  let hasLeft = false;
  const consumer = kafka.consumer({ ...MEMBERSHIP, groupId: group });
  consumer.on(consumer.events.GROUP_JOIN, () => {
    // The consumer may be started again while this process leaves the group.
    if (hasLeft) consumer.disconnect().catch(() => undefined);
    for (const { offset, ...place } of next.values())
      consumer.seek({ ...place, offset: String(offset) });
  });
  await consumer.connect();
  await consumer.subscribe({ topics: [...topics], fromBeginning: false });
  onStart(new Map([...next].map(([place, { offset }]) => [place, offset - 1])));
  const run = () =>
    consumer.run({
      autoCommit: false,
      eachBatch: async ({ batch: { topic, partition, messages } }) => {
        const place = placeOf(topic, partition);
        const toRecord = (message: KafkaMessage): TailRecord => ({
          ...toBusRecord(message),
          place,
          offset: Number(message.offset),
        });
        const records = messages.map(toRecord);
        const own = records.filter(isOwn);
        if (own.length > 0) onRecords(own);
        const last = records.at(-1);
        if (last !== undefined) next.set(place, { topic, partition, offset: last.offset + 1 });
        await Promise.resolve();
      },
    });
  await keepRunning({ consumer, run, hasLeft: () => hasLeft });
  return {
    [Symbol.asyncDispose]: () => {
      hasLeft = true;
      return consumer.disconnect();
    },
  };
}
