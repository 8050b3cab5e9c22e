import type { Bus } from "#src/bus.ts";
import { openKafka, type KafkaClientOptions } from "#src/bus/kafka-client.ts";
import { KafkaPublisher } from "#src/bus/kafka-publisher.ts";
import { startKafkaSubscription } from "#src/bus/kafka-subscription.ts";
import type { Sql } from "#src/postgres.ts";
import { disposeInOrder } from "#src/process/lifecycle.ts";

export { ensureTopics } from "#src/bus/kafka-client.ts";

export interface KafkaBusOptions extends KafkaClientOptions {
  /** The consumers' own database. */
  readonly sql: Sql;
  /** A consumer cannot go on in this process, which should exit with 1 so that a new one takes over. */
  readonly onFatal: (error: unknown) => void;
  /** So long without progress while there is something to do counts as stuck. Default 60 s. */
  readonly stallMs?: number;
  /** After so long without a heartbeat the broker takes a consumer's partitions away. Default 10 s, at least 6 s. */
  readonly sessionTimeoutMs?: number;
}

const STALL_MS = 60_000;
const SESSION_TIMEOUT_MS = 10_000;

/**
 * The bus of production, on Apache Kafka. Topics must be there (`ensureTopics`). A consumer's effect is committed before
 * its offset, so a crash in between repeats events. The Kafka group of a consumer is `<group>.<topic>`.
 */
export function createKafkaBus(options: KafkaBusOptions): Bus {
  const { sql, logger, onFatal, stallMs = STALL_MS } = options;
  const sessionTimeoutMs = options.sessionTimeoutMs ?? SESSION_TIMEOUT_MS;
  const kafka = openKafka(options);
  const publisher = new KafkaPublisher(kafka);
  const subscriptions = new Set<AsyncDisposable>();
  return {
    system: "kafka",
    publish: (_tx, topic, records) => publisher.publish(topic, records),
    subscribe: (subscription) => {
      const started = startKafkaSubscription({
        ...subscription,
        kafka,
        sql,
        logger,
        stallMs,
        sessionTimeoutMs,
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
    [Symbol.asyncDispose]: () => disposeInOrder([...subscriptions, publisher]),
  };
}
