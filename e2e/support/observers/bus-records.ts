import { TOPICS } from "@postrider/shared/bus/topics";
import { Kafka, logLevel, type Admin } from "kafkajs";
import type { System } from "../system/system.ts";

async function withAdmin<T>(broker: string, work: (admin: Admin) => Promise<T>): Promise<T> {
  const admin = new Kafka({
    brokers: [broker],
    clientId: "e2e",
    logLevel: logLevel.NOTHING,
  }).admin();
  await admin.connect();
  try {
    return await work(admin);
  } finally {
    await admin.disconnect();
  }
}

async function truncateKafka(broker: string): Promise<void> {
  await withAdmin(broker, async (admin) => {
    for (const topic of TOPICS) {
      const partitions = await admin.fetchTopicOffsets(topic);
      await admin.deleteTopicRecords({
        topic,
        partitions: partitions.map(({ partition, high }) => ({ partition, offset: high })),
      });
    }
  });
}

/**
 * Returns the name of the Kafka consumer group with which a service reads a topic: a service has
 * one group per topic. The systems of tests belong to the deployment `local`.
 */
function kafkaGroup(group: string, topic: string): string {
  return `${group}.${topic}.local`;
}

/** Deletes every event on the message bus, whether consumers have read it or not. */
export async function truncateBus(system: System): Promise<void> {
  if (system.kafkaBroker === undefined) await system.sql`truncate bus.records`;
  else await truncateKafka(system.kafkaBroker);
}

/**
 * Makes a consumer group read a topic again from the first event. On Kafka, all consumers of the
 * group must be stopped.
 */
export async function rewindGroup(system: System, group: string, topic: string): Promise<void> {
  const broker = system.kafkaBroker;
  if (broker === undefined) {
    await system.sql`delete from bus.positions where group_name = ${group} and topic = ${topic}`;
    return;
  }
  await withAdmin(broker, (admin) =>
    admin.resetOffsets({ groupId: kafkaGroup(group, topic), topic, earliest: true }),
  );
}

/** Whether the consumer group has handled all events of the topic. */
export async function hasCaughtUp(system: System, group: string, topic: string): Promise<boolean> {
  const broker = system.kafkaBroker;
  if (broker === undefined) {
    const [row] = await system.sql<{ behind: number }[]>`
      select count(*)::int as behind from bus.records
      where topic = ${topic}
      and id > coalesce((select position from bus.positions where group_name = ${group} and topic = ${topic}), 0)`;
    return row?.behind === 0;
  }
  return await withAdmin(broker, async (admin) => {
    const heads = await admin.fetchTopicOffsets(topic);
    const [positions] = await admin.fetchOffsets({
      groupId: kafkaGroup(group, topic),
      topics: [topic],
    });
    const offsets = new Map(
      positions?.partitions.map(({ partition, offset }) => [partition, Number(offset)]),
    );
    return heads.every(
      ({ partition, high, low }) => high === low || (offsets.get(partition) ?? -1) >= Number(high),
    );
  });
}

/**
 * Shuffles the events of a topic that no consumer has read yet, duplicates each event, and drops
 * one in ten. Only the Postgres bus allows this, because Kafka's log cannot be rewritten. Returns
 * the number of events before the change.
 */
export async function scramble(system: System, topic: string): Promise<number> {
  return await system.sql.begin(async (tx) => {
    const rows = await tx<{ key: string; headers: string; value: string }[]>`
      delete from bus.records where topic = ${topic}
      and id > coalesce((select min(position) from bus.positions where topic = ${topic}), 0)
      returning key, headers::text as headers, value`;
    const kept = rows.filter((_row, index) => index % 10 !== 3);
    const scrambled = [...kept, ...kept]
      .map((row) => ({ row, order: Math.random() }))
      .toSorted((a, b) => a.order - b.order);
    for (const { row } of scrambled)
      await tx`insert into bus.records (topic, key, headers, value) values (${topic}, ${row.key}, ${row.headers}::text::jsonb, ${row.value})`;

    await tx`select pg_notify('postrider_bus', ${topic})`;
    return rows.length;
  });
}
