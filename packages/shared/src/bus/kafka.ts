import { type Kafka, Partitioners, type Producer } from "kafkajs";
import { type Bus, type BusRecord, RefusedRecordsError, type TailRecord } from "#src/bus.ts";
import { DEPLOYMENT_HEADER } from "#src/bus/kafka-batches.ts";
import { checkTopics, type KafkaClientOptions, openKafka } from "#src/bus/kafka-client.ts";
import { startKafkaSubscription } from "#src/bus/kafka-subscription.ts";
import { startKafkaTail } from "#src/bus/kafka-tail.ts";
import { TOPICS } from "#src/bus/topics.ts";
import type { DeploymentGuard } from "#src/deployment/guard.ts";
import type { Sql } from "#src/postgres.ts";
import { disposeInOrder } from "#src/process/lifecycle.ts";

const ACK_ALL = -1;
const SEND_TIMEOUT_MS = 5_000;
/** Below the broker's default `message.max.bytes` of 1 MiB, which limits a whole batch. */
const MAX_SEND_BYTES = 768 * 1024;
/** Key, headers and framing of a record. */
const RECORD_OVERHEAD_BYTES = 512;

/** The broker refuses records permanently. */
const REFUSALS = new Set([
  "MESSAGE_TOO_LARGE",
  "RECORD_LIST_TOO_LARGE",
  "INVALID_RECORD",
  "INVALID_TIMESTAMP",
  "UNSUPPORTED_FOR_MESSAGE_FORMAT",
]);

/** Sends with all acknowledgements, one request at a time. Connects on first use. */
class KafkaPublisher implements AsyncDisposable {
  readonly #producer: Producer;
  #connected: Promise<void> | undefined;

  readonly #deploymentId: string;

  constructor(kafka: Kafka, deploymentId: string) {
    this.#deploymentId = deploymentId;
    // The idempotent producer of kafkajs can stay out of sequence after a reconnect (#598, #1005),
    // and does not deduplicate across restarts. One request in flight keeps the order; consumers
    // tolerate repeats.
    this.#producer = kafka.producer({
      createPartitioner: Partitioners.DefaultPartitioner,
      allowAutoTopicCreation: false,
      maxInFlightRequests: 1,
      retry: { initialRetryTime: 100, maxRetryTime: 1_000, retries: 3 },
    });
  }

  async publish(topic: string, records: readonly BusRecord[]): Promise<void> {
    await this.#connect();
    for (const part of splitByBytes(records)) {
      const messages = part.map(({ key, headers, value }) => ({
        key,
        headers: { ...headers, [DEPLOYMENT_HEADER]: this.#deploymentId },
        value,
      }));
      try {
        await this.#producer.send({ topic, messages, acks: ACK_ALL, timeout: SEND_TIMEOUT_MS });
      } catch (error) {
        throw toRefusal(error);
      }
    }
  }

  async #connect(): Promise<void> {
    this.#connected ??= this.#producer.connect();
    try {
      await this.#connected;
    } catch (error) {
      this.#connected = undefined;
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#producer.disconnect();
  }
}

/** kafkajs wraps the error of the broker. */
function toRefusal(error: unknown): unknown {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const type = "type" in cause ? String(cause.type) : "";
    if (REFUSALS.has(type)) return new RefusedRecordsError(type, { cause: error });
  }
  return error;
}

function splitByBytes(records: readonly BusRecord[]): readonly (readonly BusRecord[])[] {
  const parts: BusRecord[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const record of records) {
    const size = Buffer.byteLength(record.value) + RECORD_OVERHEAD_BYTES;
    bytes += size;
    if (bytes > MAX_SEND_BYTES) {
      parts.push([]);
      bytes = size;
    }
    parts.at(-1)?.push(record);
  }
  return parts;
}

export { ensureTopics } from "#src/bus/kafka-client.ts";

export interface KafkaBusOptions extends KafkaClientOptions {
  readonly sql: Sql;
  readonly deploymentId: string;
  readonly guard: Pick<DeploymentGuard, "isHeld">;
  /** The process should then exit with 1, so that it is restarted. */
  readonly onFatal: (error: unknown) => void;
  readonly stallMs?: number;
  /** Those that `check` looks for; all of them if they are left out. */
  readonly topics?: readonly string[];
  /** See `removePredecessors`; it replaces the client id. */
  readonly instance?: string | undefined;
}

const STALL_MS = 60_000;

/**
 * Topics must exist (`ensureTopics`). A consumer's effect is committed before its offset, so that a
 * crash in between repeats events. Deployments on the same brokers do not disturb each other:
 * groups are named `<group>.<topic>.<deployment>`, and a consumer skips the records of other
 * deployments, which may be copies with the same ids.
 */
export function createKafkaBus(options: KafkaBusOptions): Bus {
  const { sql, logger, onFatal, deploymentId, guard, stallMs = STALL_MS } = options;
  const { instance, clientId } = options;
  const kafka = openKafka({ ...options, clientId: instance ?? clientId });
  const publisher = new KafkaPublisher(kafka, deploymentId);
  const subscriptions = new Set<AsyncDisposable>();
  return {
    system: "kafka",
    publish: (_tx, topic, records) => publisher.publish(topic, records),
    isHeld: () => guard.isHeld(),
    check: () => checkTopics(kafka, options.topics ?? TOPICS),
    subscribe: (subscription) => {
      const started = startKafkaSubscription({
        ...subscription,
        kafka,
        sql,
        logger,
        deploymentId,
        guard,
        stallMs,
        instance,
        onFatal,
      });
      subscriptions.add(started);
      return Promise.resolve({
        [Symbol.asyncDispose]: async () => {
          subscriptions.delete(started);
          await started[Symbol.asyncDispose]();
        },
      });
    },
    tail: async (tail) => {
      const isOwn = ({ headers }: TailRecord) =>
        (headers[DEPLOYMENT_HEADER] ?? deploymentId) === deploymentId;
      const started = await startKafkaTail(tail, { kafka, isOwn });
      subscriptions.add(started);
      return {
        [Symbol.asyncDispose]: async () => {
          subscriptions.delete(started);
          await started[Symbol.asyncDispose]();
        },
      };
    },
    [Symbol.asyncDispose]: () => disposeInOrder([...subscriptions, publisher]),
  };
}
