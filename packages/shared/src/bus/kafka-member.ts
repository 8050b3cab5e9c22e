import type { Consumer, Kafka } from "kafkajs";
import { KafkaBatches, type KafkaBatchesOptions } from "#src/bus/kafka-batches.ts";
import { rejoinUntil, withAdmin } from "#src/bus/kafka-client.ts";
import { keepLag } from "#src/bus/telemetry.ts";
import type { Logger } from "#src/telemetry/logger.ts";

export async function atMost(work: PromiseLike<void>, timeoutMs: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, timeoutMs);
  try {
    await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}

interface PredecessorOptions {
  readonly kafka: Kafka;
  readonly groupId: string;
  /** No other running process has it, and the process that replaces it has it again. */
  readonly instance: string;
  readonly logger: Logger;
}

/**
 * Removes the member that a killed process of the same name left in the group. Otherwise the whole
 * group would wait, as soon as this process joins, until that session ends.
 *
 * Harmless if the earlier process still runs: it is told that it is no longer a member, and joins
 * again. If the removal fails, the group waits for the end of the session.
 */
export async function removePredecessors(options: PredecessorOptions): Promise<void> {
  const { kafka, groupId, instance, logger } = options;
  try {
    await withAdmin(kafka, async (admin) => {
      const { groups } = await admin.describeGroups([groupId]);
      const members = groups.flatMap((group) => group.members);
      for (const { clientId, memberId } of members)
        if (clientId === instance) await admin.leaveGroup({ groupId, memberId });
    });
  } catch (err) {
    logger.debug(
      { err, groupId },
      "the Kafka group member of an earlier process could not be removed; the group waits until the member's session expires",
    );
  }
}

export interface KafkaMemberOptions extends KafkaBatchesOptions {
  readonly kafka: Kafka;
  readonly groupId: string;
  /** See `removePredecessors`; undefined if processes have no names of their own. */
  readonly instance: string | undefined;
  /** How long a process waits for its current batch before it leaves its group. */
  readonly leaveTimeoutMs: number;
  /** kafkajs stops because of an error that it does not retry. */
  readonly onCrash: (error: unknown) => void;
}

/** The shortest time that brokers allow by default (`group.min.session.timeout.ms`, Kafka 4.1). */
const SESSION_TIMEOUT_MS = 6_000;

export class KafkaMember implements AsyncDisposable {
  readonly #consumer: Consumer;
  readonly #batches: KafkaBatches;
  readonly #options: KafkaMemberOptions;
  #assigned: readonly number[] | undefined;
  #hasLeft = false;

  constructor(options: KafkaMemberOptions) {
    this.#options = options;
    this.#batches = new KafkaBatches(options);
    this.#consumer = options.kafka.consumer({
      groupId: options.groupId,
      sessionTimeout: SESSION_TIMEOUT_MS,
      heartbeatInterval: 1_000,
      rebalanceTimeout: 60_000,
      // A new record ends the fetch at once (`minBytes`), so this adds no latency. An idle consumer
      // takes 1.4 % of a core with 100 ms and 0.4 % with 500 ms. Leaving the group takes up to this
      // long.
      maxWaitTimeInMs: 500,
      minBytes: 1,
      // Few records are then processed again after a crash.
      maxBytesPerPartition: 512 * 1024,
      allowAutoTopicCreation: false,
      retry: rejoinUntil(() => this.#hasLeft),
    });
  }

  get assigned(): readonly number[] | undefined {
    return this.#assigned;
  }

  async join(): Promise<void> {
    const { topic, group, logger, onCrash, instance } = this.#options;
    const { events } = this.#consumer;
    this.#consumer.on(events.CRASH, ({ payload }) => {
      this.#assigned = undefined;
      if (!payload.restart && !this.#hasLeft) onCrash(payload.error);
    });
    this.#consumer.on(events.GROUP_JOIN, ({ payload }) => {
      this.#assigned = payload.memberAssignment[topic] ?? [];
      keepLag(topic, group, this.#assigned);
      // kafkajs may restart the consumer while this process leaves the group; partitions assigned
      // to it would not be processed, so it is stopped at once.
      if (this.#hasLeft)
        this.#consumer
          .disconnect()
          .catch((err: unknown) =>
            logger.debug(
              { err },
              "the consumer could not leave its Kafka group; Kafka removes it when its session expires",
            ),
          );
    });
    if (instance !== undefined) await removePredecessors({ ...this.#options, instance });
    await this.#consumer.connect();
    // A new group starts at the beginning, and so does one whose offset is out of range because
    // records expired.
    await this.#consumer.subscribe({ topics: [topic], fromBeginning: true });
    await this.#consumer.run({
      autoCommitInterval: 1_000,
      eachBatchAutoResolve: false,
      partitionsConsumedConcurrently: 3,
      eachBatch: this.#batches.eachBatch,
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#hasLeft = true;
    // A batch that never ends must not block this: the broker reassigns the partitions when the
    // session expires.
    await atMost(this.#consumer.disconnect(), this.#options.leaveTimeoutMs);
    this.#batches[Symbol.dispose]();
    keepLag(this.#options.topic, this.#options.group, []);
  }
}
