import type { Consumer, Kafka } from "kafkajs";
import { KafkaBatches, type KafkaBatchesOptions } from "#src/bus/kafka-batches.ts";
import { keepRunning, MEMBERSHIP, withAdmin } from "#src/bus/kafka-client.ts";
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
 * Removes the member that a killed process of the same name, or a consumer of this process that
 * lost its brokers, left in the group. Otherwise the whole group would wait, as soon as this
 * process joins, until that session ends.
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
      { err, group: groupId },
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
}

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
      ...MEMBERSHIP,
      groupId: options.groupId,
      // Few records are then processed again after a crash.
      maxBytesPerPartition: 512 * 1024,
      allowAutoTopicCreation: false,
    });
  }

  get assigned(): readonly number[] | undefined {
    return this.#assigned;
  }

  async join(): Promise<void> {
    const { topic, group, logger } = this.#options;
    const { events } = this.#consumer;
    this.#consumer.on(events.CRASH, () => {
      this.#assigned = undefined;
    });
    this.#consumer.on(events.GROUP_JOIN, ({ payload }) => {
      this.#assigned = payload.memberAssignment[topic] ?? [];
      keepLag(topic, group, this.#assigned);
      // The consumer may be started again while this process leaves the group; partitions assigned
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
    await this.#consumer.connect();
    // A new group starts at the beginning, and so does one whose offset is out of range because
    // records expired.
    await this.#consumer.subscribe({ topics: [topic], fromBeginning: true });
    await keepRunning({
      consumer: this.#consumer,
      run: () => this.#run(),
      hasLeft: () => this.#hasLeft,
      onCrash: (err) =>
        logger.warn(
          { err, topic, group },
          "the event consumer was ended by an error of Kafka; it joins its group again until it succeeds",
        ),
    });
  }

  /**
   * After a crash, the earlier member of this process is a predecessor as well. They are looked for
   * only when a broker answers, or they would stay.
   */
  async #run(): Promise<void> {
    const { instance } = this.#options;
    await this.#consumer.connect();
    if (instance !== undefined) await removePredecessors({ ...this.#options, instance });
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
