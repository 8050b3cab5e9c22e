import {
  type Admin,
  type Consumer,
  type ConsumerConfig,
  Kafka,
  type LogEntry,
  logLevel,
} from "kafkajs";
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

const ROUTINE = /rebalanc|Connection (error|timeout)|not aware of this member|coordinator|Crash: /i;

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

/** Of every member of a consumer group. */
export const MEMBERSHIP = {
  /**
   * The shortest time that brokers allow by default (`group.min.session.timeout.ms`, Kafka 4.1).
   */
  sessionTimeout: 6_000,
  heartbeatInterval: 1_000,
  /**
   * Longer than any transaction (15 s). A rebalance waits this long for a member that does not
   * come, and a member waits 5 s longer for the answer.
   */
  rebalanceTimeout: 20_000,
  // A new record ends the fetch at once (`minBytes`), so this adds no latency. An idle consumer
  // takes 1.4 % of a core with 100 ms and 0.4 % with 500 ms. Leaving the group takes up to this
  // long.
  maxWaitTimeInMs: 500,
  minBytes: 1,
  /** `keepRunning` starts a consumer again, not kafkajs. */
  retry: {
    initialRetryTime: 200,
    maxRetryTime: 1_000,
    retries: 5,
    restartOnFailure: () => Promise.resolve(false),
  },
} satisfies Partial<ConsumerConfig>;

interface RunningConsumer {
  readonly consumer: Consumer;
  readonly run: () => Promise<void>;
  readonly hasLeft: () => boolean;
  /** Called for the first crash after the consumer had joined its group. */
  readonly onCrash?: (error: Error) => void;
}

const FIRST_RESTART_MS = 100;
/** Added to the time after which a consumer works when brokers answer again, so it is short. */
const MAX_RESTART_MS = 1_000;

/**
 * Runs a consumer again after each crash. kafkajs would end it for good after errors that pass:
 * when no broker can say who coordinates the group, which is usual while brokers stop and start, it
 * hides the cause in an error that it does not retry.
 */
export function keepRunning({ consumer, run, hasLeft, onCrash }: RunningConsumer): Promise<void> {
  let crashes = 0;
  const restart = (error: Error): void => {
    if (hasLeft()) return;
    if (crashes === 0) onCrash?.(error);
    const delayMs = Math.min(MAX_RESTART_MS, FIRST_RESTART_MS * 2 ** crashes);
    crashes += 1;
    setTimeout(() => {
      if (!hasLeft()) run().catch(restart);
    }, delayMs).unref();
  };
  consumer.on(consumer.events.CRASH, ({ payload }) => restart(payload.error));
  consumer.on(consumer.events.GROUP_JOIN, () => {
    crashes = 0;
  });
  return run();
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

/**
 * With three brokers or more, a record counts as sent when two of three replicas have it. With
 * fewer one machine may be the only one that has it, so it counts as sent when it is on disk:
 * Kafka writes to the disk much later by itself, and a power failure would lose events of which
 * the outbox has no copy any more.
 */
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
      ...(replicationFactor < MAX_REPLICAS ? [{ name: "flush.messages", value: "1" }] : []),
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
