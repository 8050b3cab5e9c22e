import type { Consumer, Kafka } from "kafkajs";
import { atMost } from "#src/bus/at-most.ts";
import { KafkaBatches, type KafkaBatchesOptions } from "#src/bus/kafka-batches.ts";
import { keepLag } from "#src/bus/lag.ts";

export interface KafkaMemberOptions extends KafkaBatchesOptions {
  readonly kafka: Kafka;
  readonly groupId: string;
  /** After so long without a heartbeat the broker gives the partitions to somebody else. */
  readonly sessionTimeoutMs: number;
  /** So long leaving waits for the batch in hand. */
  readonly leaveTimeoutMs: number;
  /** kafkajs gave up on an error that it does not retry. */
  readonly onCrash: (error: unknown) => void;
}

/** One membership in a consumer group, from joining to leaving. */
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
      sessionTimeout: options.sessionTimeoutMs,
      heartbeatInterval: 1_000,
      rebalanceTimeout: 60_000,
      // How long an empty fetch stays at the broker; a record ends it at once (`minBytes`), so this costs no latency. An idle
      // consumer takes 1.4 % of a core with 100 ms and 0.4 % with 500 ms, and leaving takes up to this long.
      maxWaitTimeInMs: 500,
      minBytes: 1,
      // One crash repeats at most this much per partition.
      maxBytesPerPartition: 512 * 1024,
      allowAutoTopicCreation: false,
      // A broker may be away for as long as it likes: kafkajs joins again by itself, unless we are leaving.
      retry: {
        initialRetryTime: 200,
        maxRetryTime: 5_000,
        retries: 5,
        restartOnFailure: () => Promise.resolve(!this.#hasLeft),
      },
    });
  }

  /** The partitions that are ours; undefined before the group has been joined. */
  get assigned(): readonly number[] | undefined {
    return this.#assigned;
  }

  /** Connects and begins to consume. */
  async join(): Promise<void> {
    const { topic, group, logger, onCrash } = this.#options;
    const { events } = this.#consumer;
    this.#consumer.on(events.CRASH, ({ payload }) => {
      this.#assigned = undefined;
      if (!payload.restart && !this.#hasLeft) onCrash(payload.error);
    });
    this.#consumer.on(events.GROUP_JOIN, ({ payload }) => {
      this.#assigned = payload.memberAssignment[topic] ?? [];
      keepLag(topic, group, this.#assigned);
      // A restart that was under way while we left would otherwise own partitions that nobody works on.
      if (this.#hasLeft)
        this.#consumer
          .disconnect()
          .catch((err: unknown) => logger.debug({ err }, "leaving failed"));
    });
    await this.#consumer.connect();
    // Also where an offset is out of range (the topic was truncated or retention was faster): the beginning, not the end.
    await this.#consumer.subscribe({ topics: [topic], fromBeginning: true });
    await this.#consumer.run({
      autoCommitInterval: 1_000,
      eachBatchAutoResolve: false,
      partitionsConsumedConcurrently: 3,
      eachBatch: this.#batches.eachBatch,
    });
  }

  /** Leaves the group after the batch in hand, so that others get the partitions at once. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#hasLeft = true;
    // Work that never ends must not keep us: the broker takes the partitions when the session expires.
    await atMost(this.#consumer.disconnect(), this.#options.leaveTimeoutMs);
    this.#batches[Symbol.dispose]();
    keepLag(this.#options.topic, this.#options.group, []);
  }
}
