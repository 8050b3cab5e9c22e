import type { Admin, Kafka } from "kafkajs";
import { withAdmin } from "#src/bus/kafka-client.ts";
import type { Sql } from "#src/postgres.ts";
import type { Logger } from "#src/telemetry/logger.ts";

export interface WatchdogOptions {
  readonly kafka: Kafka;
  readonly sql: Sql;
  readonly logger: Logger;
  readonly groupId: string;
  readonly topic: string;
  /** So long without progress is suspicious. */
  readonly stallMs: number;
}

/**
 * Finds a consumer that has silently stopped (kafkajs #1645, #1720 and others): nothing handled for `stallMs` although
 * there is something to handle, the database answers, and nobody in the group moves either.
 */
export class Watchdog {
  readonly #options: WatchdogOptions;
  #progressAt = performance.now();
  #committed = "";

  constructor(options: WatchdogOptions) {
    this.#options = options;
  }

  readonly touch = (): void => {
    this.#progressAt = performance.now();
  };

  /** Milliseconds since a sign of life. */
  get quietMs(): number {
    return performance.now() - this.#progressAt;
  }

  /**
   * Whether the consumer is stuck.
   *
   * @param assigned Its partitions; undefined means that it has not joined, and then all count.
   */
  async isStalled(assigned: readonly number[] | undefined): Promise<boolean> {
    if (this.quietMs < this.#options.stallMs) return false;
    const lag = await this.#findLag(assigned);
    if (lag !== undefined && lag.records > 0n && lag.committed === this.#committed) return true;
    this.#committed = lag?.committed ?? "";
    this.touch();
    return false;
  }

  /** Undefined while the database or the broker does not answer: waiting for them is not being stuck. */
  async #findLag(
    assigned: readonly number[] | undefined,
  ): Promise<{ readonly records: bigint; readonly committed: string } | undefined> {
    try {
      await this.#options.sql`select 1`;
      return await withAdmin(this.#options.kafka, (admin) => this.#readLag(admin, assigned));
    } catch (error) {
      this.#options.logger.debug({ err: error }, "the lag is not known");
      return undefined;
    }
  }

  async #readLag(admin: Admin, assigned: readonly number[] | undefined) {
    const { groupId, topic } = this.#options;
    const ends = await admin.fetchTopicOffsets(topic);
    const [group] = await admin.fetchOffsets({ groupId, topics: [topic] });
    const positions = new Map(
      group?.partitions.map(({ partition, offset }) => [partition, offset]),
    );
    let records = 0n;
    for (const { partition, low, high } of ends) {
      if (assigned !== undefined && !assigned.includes(partition)) continue;
      const position = BigInt(positions.get(partition) ?? "-1");
      const start = position < BigInt(low) ? BigInt(low) : position;
      records += BigInt(high) - start;
    }
    return { records, committed: JSON.stringify([...positions]) };
  }
}
