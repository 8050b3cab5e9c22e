import { randomUUID } from "node:crypto";
import { eventually } from "@postrider/shared/testing/poll";
import { Kafka, logLevel, type KafkaMessage } from "kafkajs";
import type { Places } from "./canaries.ts";

function textOf({ key, headers, value }: KafkaMessage): string {
  const named = Object.entries(headers ?? {}).map(([name, header]) => `${name}: ${String(header)}`);
  return [String(key), ...named, String(value)].join("\n");
}

/** Reads every record of every topic except Kafka's internal topics. */
export async function readTopics(broker: string): Promise<Places> {
  const kafka = new Kafka({ brokers: [broker], clientId: "e2e", logLevel: logLevel.NOTHING });
  const admin = kafka.admin();
  const consumer = kafka.consumer({ groupId: randomUUID() });
  await Promise.all([admin.connect(), consumer.connect()]);
  try {
    const topics = (await admin.listTopics()).filter((topic) => !topic.startsWith("__"));
    const found = new Map(topics.map((topic) => [topic, [] as string[]]));
    let missing = 0;
    for (const topic of topics)
      for (const { high, low } of await admin.fetchTopicOffsets(topic))
        missing += Number(high) - Number(low);

    await consumer.subscribe({ topics, fromBeginning: true });
    await consumer.run({
      eachMessage: async ({ topic, message }) => {
        found.get(topic)?.push(textOf(message));
        missing -= 1;
        await Promise.resolve();
      },
    });
    await eventually(() => missing <= 0);
    return new Map([...found].map(([topic, texts]) => [`the topic ${topic}`, texts.join("\n")]));
  } finally {
    await Promise.all([consumer.disconnect(), admin.disconnect()]);
  }
}
