import { Kafka, logLevel, type Admin, type LogEntry, type RetryOptions } from "kafkajs";
import { toKafkaConfig, type KafkaSecurity } from "#src/bus/kafka-security.ts";
import type { Logger } from "#src/telemetry/logger.ts";

export interface KafkaClientOptions {
  /** `host:port` of some brokers, from which the client learns about all others. */
  readonly brokers: readonly string[];
  /** Undefined in a private network. */
  readonly security?: KafkaSecurity | undefined;
  readonly clientId: string;
  readonly logger: Logger;
}

const ROUTINE =
  /rebalanc|Connection (error|timeout)|not aware of this member|coordinator|Restarting the consumer/i;

/** Waits are limited, and it logs to our logger. */
export function openKafka({ brokers, security, clientId, logger }: KafkaClientOptions): Kafka {
  return new Kafka({
    ...toKafkaConfig(security),
    clientId,
    brokers: [...brokers],
    connectionTimeout: 2_000,
    requestTimeout: 5_000,
    retry: { initialRetryTime: 100, maxRetryTime: 1_000, retries: 5 },
    logLevel: logLevel.WARN,
    logCreator: () => (entry) => forward(logger, entry),
  });
}

function forward(logger: Logger, { level, log }: LogEntry): void {
  const fields = { reason: String(log.error ?? ""), group: log.groupId, topic: log.topic };
  const isNoise = level !== logLevel.ERROR || ROUTINE.test(`${log.message} ${fields.reason}`);
  logger[isNoise ? "debug" : "warn"](fields, `kafka: ${log.message}`);
}

/** kafkajs joins a group again after an outage of any length, unless the process is leaving. */
export function rejoinUntil(hasLeft: () => boolean): RetryOptions {
  return {
    initialRetryTime: 200,
    maxRetryTime: 5_000,
    retries: 5,
    restartOnFailure: () => Promise.resolve(!hasLeft()),
  };
}

export async function withAdmin<T>(kafka: Kafka, work: (admin: Admin) => Promise<T>): Promise<T> {
  const admin = kafka.admin();
  try {
    await admin.connect();
    return await work(admin);
  } finally {
    await admin.disconnect();
  }
}

/** @throws An error that names the missing topics. */
export async function checkTopics(kafka: Kafka, topics: readonly string[]): Promise<void> {
  const existing = await withAdmin(kafka, (admin) => admin.listTopics());
  const missing = topics.filter((topic) => !existing.includes(topic));
  if (missing.length > 0)
    throw new Error(`Kafka does not have the topics ${missing.join(", ")}, or hides them`);
}

const RETENTION_MS = 14 * 24 * 3_600_000;
const MAX_REPLICAS = 3;

/** With three brokers or more, a record counts as sent when two of three replicas have it. */
export async function ensureTopics(
  options: KafkaClientOptions,
  topics: readonly string[],
  partitions = 12,
): Promise<void> {
  await withAdmin(openKafka(options), async (admin) => {
    const { brokers } = await admin.describeCluster();
    const replicationFactor = Math.min(MAX_REPLICAS, brokers.length);
    const configEntries = [
      { name: "retention.ms", value: String(RETENTION_MS) },
      { name: "min.insync.replicas", value: String(Math.max(1, replicationFactor - 1)) },
      { name: "unclean.leader.election.enable", value: "false" },
    ];
    await admin.createTopics({
      waitForLeaders: true,
      topics: topics.map((topic) => ({
        topic,
        numPartitions: partitions,
        replicationFactor,
        configEntries,
      })),
    });
  });
}
