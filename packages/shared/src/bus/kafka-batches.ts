import type { EachBatchPayload, KafkaMessage } from "kafkajs";
import { MAX_BATCH_RECORDS, type BusRecord, type Subscription } from "#src/bus.ts";
import { reportLag } from "#src/bus/lag.ts";
import { retryDelayMs } from "#src/bus/retry-delay.ts";
import type { Sql } from "#src/postgres.ts";
import { failpoint } from "#src/process/failpoints.ts";
import type { Logger } from "#src/telemetry/logger.ts";

export interface KafkaBatchesOptions extends Subscription {
  readonly sql: Sql;
  readonly logger: Logger;
  /** Called after every try, good or bad: this consumer is not stuck. */
  readonly onProgress: () => void;
}

const HEARTBEAT_MS = 1_000;

/**
 * What a group member does with the batches of its partitions: at most 200 records, one transaction, then the offset. It
 * never throws into kafkajs, which would restart the consumer; a batch that fails pauses its partition and returns, so
 * that the other partitions of the same broker, which wait for this call, go on.
 */
export class KafkaBatches implements Disposable {
  readonly #options: KafkaBatchesOptions;
  readonly #failures = new Map<number, number>();
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #pulses = new Set<Pulse>();

  constructor(options: KafkaBatchesOptions) {
    this.#options = options;
  }

  readonly eachBatch = async (payload: EachBatchPayload): Promise<void> => {
    using pulse = new Pulse(() => payload.heartbeat());
    this.#pulses.add(pulse);
    await this.#work(payload, pulse);
    this.#pulses.delete(pulse);
  };

  async #work(payload: EachBatchPayload, pulse: Pulse): Promise<void> {
    const { messages } = payload.batch;
    for (let start = 0; start < messages.length; start += MAX_BATCH_RECORDS) {
      if (!payload.isRunning() || payload.isStale() || pulse.isLost) return;
      const isHandled = await this.#handle(
        payload,
        messages.slice(start, start + MAX_BATCH_RECORDS),
      );
      if (!isHandled) return;
    }
  }

  async #handle(payload: EachBatchPayload, messages: readonly KafkaMessage[]): Promise<boolean> {
    const { sql, handle, topic, group } = this.#options;
    const { partition, highWatermark } = payload.batch;
    const [first] = messages;
    const last = messages.at(-1);
    if (first === undefined || last === undefined) return true;
    reportLag({ topic, group, partition }, new Date(Number(first.timestamp)));
    try {
      await sql.begin((tx) => handle(tx, messages.map(toBusRecord)));
    } catch (error) {
      this.#pause(payload, error);
      return false;
    }
    failpoint("kafka.effect");
    this.#options.onCommitted?.();
    this.#failures.delete(partition);
    this.#options.onProgress();
    payload.resolveOffset(last.offset);
    if (BigInt(last.offset) + 1n === BigInt(highWatermark))
      reportLag({ topic, group, partition }, undefined);
    return await this.#commitOffset(payload);
  }

  /** Kept from committing every batch by `autoCommitInterval`; kafkajs commits the rest when this call returns. */
  async #commitOffset(payload: EachBatchPayload): Promise<boolean> {
    try {
      await payload.commitOffsetsIfNecessary();
      return true;
    } catch (error) {
      // Most likely the group rebalances. The effect is in the database; whoever gets the partition repeats it harmlessly.
      const { logger, topic, group } = this.#options;
      logger.debug({ err: error, topic, group }, "offset was not committed");
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
    logger.warn({ err: error, topic, group, partition, attempt, delayMs }, "batch will be retried");
    const resume = payload.pause();
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      resume();
    }, delayMs);
    this.#timers.add(timer);
  }

  /** Work that never ends is given up: without its heartbeats the broker gives the partitions to somebody else. */
  [Symbol.dispose](): void {
    for (const timer of this.#timers) clearTimeout(timer);
    for (const pulse of this.#pulses) pulse[Symbol.dispose]();
  }
}

/** Tells the broker during long work that we live; lost when the broker wants the group to rebalance. */
class Pulse implements Disposable {
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

function toBusRecord({ key, headers, value }: KafkaMessage): BusRecord {
  const entries = Object.entries(headers ?? {}).map(([name, header]) => [name, toText(header)]);
  return {
    key: key?.toString() ?? "",
    value: value?.toString() ?? "",
    headers: Object.fromEntries(entries),
  };
}

function toText(header: Buffer | string | (Buffer | string)[] | undefined): string {
  return Array.isArray(header) ? toText(header[0]) : (header?.toString() ?? "");
}
