/**
 * Joins a Kafka group with a session of ten minutes, says so, and waits to be killed:
 * `node kafka-member-process.ts <broker> <client id> <group> <topic>`.
 */
import { Kafka, logLevel } from "kafkajs";

const [broker = "", clientId = "", groupId = "", topic = ""] = process.argv.slice(2);
const kafka = new Kafka({ brokers: [broker], clientId, logLevel: logLevel.NOTHING });
const consumer = kafka.consumer({ groupId, sessionTimeout: 600_000, rebalanceTimeout: 600_000 });
consumer.on(consumer.events.GROUP_JOIN, () => void process.stdout.write("joined\n"));
await consumer.connect();
await consumer.subscribe({ topics: [topic] });
await consumer.run({ eachMessage: () => Promise.resolve() });
