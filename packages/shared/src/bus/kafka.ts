import type { Bus } from "#src/bus.ts";
import { checkTopics, openKafka, type KafkaClientOptions } from "#src/bus/kafka-client.ts";
import { KafkaPublisher } from "#src/bus/kafka-publisher.ts";
import { startKafkaSubscription } from "#src/bus/kafka-subscription.ts";
import type { DeploymentGuard } from "#src/deployment/guard.ts";
import type { Sql } from "#src/postgres.ts";
import { disposeInOrder } from "#src/process/lifecycle.ts";

export { ensureTopics } from "#src/bus/kafka-client.ts";

export interface KafkaBusOptions extends KafkaClientOptions {
  /** Database of the service that consumes the events. */
  readonly sql: Sql;
  /** Name of the deployment, with which the names of the Kafka groups end. */
  readonly deploymentId: string;
  /** Says whether the data belongs to this deployment. Otherwise the bus leaves its groups, and events stay in the outbox. */
  readonly guard: Pick<DeploymentGuard, "isHeld">;
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
 * offset, so that a crash in between repeats events. The Kafka group of a consumer is `<group>.<topic>.<deployment>`, so that
 * deployments on the same brokers do not take each other's records.
 */
export function createKafkaBus(options: KafkaBusOptions): Bus {
  const { sql, logger, onFatal, deploymentId, guard, stallMs = STALL_MS } = options;
  const { instance, clientId } = options;
  const kafka = openKafka({ ...options, clientId: instance ?? clientId });
  const publisher = new KafkaPublisher(kafka);
  const subscriptions = new Set<AsyncDisposable>();
  return {
    system: "kafka",
    publish: (_tx, topic, records) => publisher.publish(topic, records),
    isHeld: () => guard.isHeld(),
    check: () => checkTopics(kafka),
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
    [Symbol.asyncDispose]: () => disposeInOrder([...subscriptions, publisher]),
  };
}
