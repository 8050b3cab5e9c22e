import type { EachBatchPayload, KafkaMessage } from "kafkajs";
import type { Subscription } from "#src/bus.ts";
import { BatchSize } from "#src/bus/batch-size.ts";
import { toBusRecord } from "#src/bus/kafka-record.ts";
import { retryDelayMs } from "#src/bus/retries.ts";
import { reportLag } from "#src/bus/telemetry.ts";
import type { Sql } from "#src/postgres.ts";
import { failpoint } from "#src/process/failpoints.ts";
import type { Logger } from "#src/telemetry/logger.ts";

/** The name of the deployment whose relay published a record; absent for other producers. */
export const DEPLOYMENT_HEADER = "ce_deployment";

export interface KafkaBatchesOptions extends Subscription {
  readonly sql: Sql;
  /** Records of another deployment are skipped. */
  readonly deploymentId: string;
  readonly logger: Logger;
  /** Called after every try, as a sign that the consumer is not stuck. */
  readonly onProgress: () => void;
}

const HEARTBEAT_MS = 1_000;

/**
 * Processes at most 200 records of a partition in one transaction, then commits the offset. Never
 * throws, because kafkajs would restart the consumer. A failed batch pauses only its partition: the
 * call returns, so that the other partitions of the broker continue.
 */
export class KafkaBatches implements Disposable {
  readonly #options: KafkaBatchesOptions;
  readonly #failures = new Map<number, number>();
  readonly #sizes = new Map<number, BatchSize>();
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #heartbeats = new Set<Heartbeat>();

  constructor(options: KafkaBatchesOptions) {
    this.#options = options;
  }

  readonly eachBatch = async (payload: EachBatchPayload): Promise<void> => {
    using heartbeat = new Heartbeat(() => payload.heartbeat());
    this.#heartbeats.add(heartbeat);
    await this.#work(payload, heartbeat);
    this.#heartbeats.delete(heartbeat);
  };

  async #work(payload: EachBatchPayload, heartbeat: Heartbeat): Promise<void> {
    const { messages, partition } = payload.batch;
    const size = this.#sizes.get(partition) ?? new BatchSize();
    this.#sizes.set(partition, size);
    for (let start = 0; start < messages.length;) {
      if (!payload.isRunning() || payload.isStale() || heartbeat.isLost) return;
      const part = messages.slice(start, start + size.records);
      if (!(await this.#handle(payload, part, size))) return;
      start += part.length;
    }
  }

  async #handle(
    payload: EachBatchPayload,
    messages: readonly KafkaMessage[],
    size: BatchSize,
  ): Promise<boolean> {
    const { sql, handle, topic, group, deploymentId } = this.#options;
    const { partition, highWatermark } = payload.batch;
    const [first] = messages;
    const last = messages.at(-1);
    if (first === undefined || last === undefined) return true;
    reportLag({ topic, group, partition }, new Date(Number(first.timestamp)));
    const records = messages
      .map(toBusRecord)
      .filter(({ headers }) => (headers[DEPLOYMENT_HEADER] ?? deploymentId) === deploymentId);
    const startedAt = performance.now();
    try {
      if (records.length > 0) await sql.begin((tx) => handle(tx, records));
    } catch (error) {
      size.failed(error, messages.length, performance.now() - startedAt);
      this.#pause(payload, error);
      return false;
    }
    size.succeeded(messages.length, performance.now() - startedAt);
    failpoint("kafka.effect");
    this.#options.onCommitted?.();
    this.#failures.delete(partition);
    this.#options.onProgress();
    payload.resolveOffset(last.offset);
    if (BigInt(last.offset) + 1n === BigInt(highWatermark))
      reportLag({ topic, group, partition }, undefined);
    return await this.#commitOffset(payload);
  }

  /** At most once per `autoCommitInterval`; kafkajs commits the rest when the call returns. */
  async #commitOffset(payload: EachBatchPayload): Promise<boolean> {
    try {
      await payload.commitOffsetsIfNecessary();
      return true;
    } catch (error) {
      // Usually a rebalance. The effect of the batch is committed, so another member that processes
      // it again does no harm.
      const { logger, topic, group } = this.#options;
      logger.debug(
        { err: error, topic, group },
        "the Kafka offset of a batch of events could not be committed; the batch may be processed again",
      );
      return false;
    }
  }

  #pause(payload: EachBatchPayload, error: unknown): void {
    const { logger, topic, group, onProgress } = this.#options;
    const { partition } = payload.batch;
    const attempt = (this.#failures.get(partition) ?? 0) + 1;
    this.#failures.set(partition, attempt);
    onProgress();
    const delayMs = retryDelayMs(error, attempt);
    logger.warn(
      { err: error, topic, group, partition, attempt, delayMs },
      "a batch of events could not be processed; it is tried again after a pause",
    );
    const resume = payload.pause();
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      resume();
    }, delayMs);
    this.#timers.add(timer);
  }

  /** The broker then reassigns the partitions, even if the current work never ends. */
  [Symbol.dispose](): void {
    for (const timer of this.#timers) clearTimeout(timer);
    for (const heartbeat of this.#heartbeats) heartbeat[Symbol.dispose]();
  }
}

class Heartbeat implements Disposable {
  readonly #timer: NodeJS.Timeout;
  isLost = false;

  constructor(heartbeat: () => Promise<void>) {
    this.#timer = setInterval(() => {
      heartbeat().catch(() => {
        this.isLost = true;
      });
    }, HEARTBEAT_MS);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}
