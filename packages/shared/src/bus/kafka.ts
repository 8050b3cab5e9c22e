import type { Bus } from "#src/bus.ts";
import { checkTopics, openKafka, type KafkaClientOptions } from "#src/bus/kafka-client.ts";
import { KafkaPublisher } from "#src/bus/kafka-publisher.ts";
import { startKafkaSubscription } from "#src/bus/kafka-subscription.ts";
import type { Sql } from "#src/postgres.ts";
import { disposeInOrder } from "#src/process/lifecycle.ts";

export { ensureTopics } from "#src/bus/kafka-client.ts";

export interface KafkaBusOptions extends KafkaClientOptions {
  /** Database of the service that consumes the events. */
  readonly sql: Sql;
  /**
   * Called when a Kafka consumer cannot continue in this process. The process should then exit with 1, so that it is
   * restarted.
   */
  readonly onFatal: (error: unknown) => void;
  /** Time without progress, while events wait, after which a consumer counts as stuck. Default: 60 s. */
  readonly stallMs?: number;
  /** Name of this process in its Kafka groups, see `removePredecessors`; it replaces the client id. */
  readonly instance?: string | undefined;
}

const STALL_MS = 60_000;

/**
 * The bus on Apache Kafka, for production. Topics must exist (`ensureTopics`). A consumer's effect is committed before its
 * offset, so that a crash in between repeats events. The Kafka group of a consumer is `<group>.<topic>`.
 */
export function createKafkaBus(options: KafkaBusOptions): Bus {
  const { sql, logger, onFatal, stallMs = STALL_MS, instance, clientId } = options;
  const kafka = openKafka({ ...options, clientId: instance ?? clientId });
  const publisher = new KafkaPublisher(kafka);
  const subscriptions = new Set<AsyncDisposable>();
  return {
    system: "kafka",
    publish: (_tx, topic, records) => publisher.publish(topic, records),
    check: () => checkTopics(kafka),
    subscribe: (subscription) => {
      const started = startKafkaSubscription({
        ...subscription,
        kafka,
        sql,
        logger,
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
    [Symbol.asyncDispose]: () => disposeInOrder([...subscriptions, publisher]),
  };
}
