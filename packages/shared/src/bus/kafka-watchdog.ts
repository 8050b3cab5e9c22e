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
  readonly stallMs: number;
}

/**
 * Detects a consumer that has silently stopped (kafkajs #1645, #1720 and others): it handled
 * nothing for `stallMs` although events wait and the database answers, and the offsets of its group
 * do not move either.
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

  get quietMs(): number {
    return performance.now() - this.#progressAt;
  }

  /** `assigned` is undefined before the consumer has joined; then all partitions count. */
  async isStalled(assigned: readonly number[] | undefined): Promise<boolean> {
    if (this.quietMs < this.#options.stallMs) return false;
    const lag = await this.#findLag(assigned);
    if (lag !== undefined && lag.records > 0n && lag.committed === this.#committed) return true;
    this.#committed = lag?.committed ?? "";
    this.touch();
    return false;
  }

  /**
   * How many records wait. Undefined while the database or the broker does not answer: the consumer
   * is then waiting, not stuck.
   */
  async #findLag(
    assigned: readonly number[] | undefined,
  ): Promise<{ readonly records: bigint; readonly committed: string } | undefined> {
    try {
      await this.#options.sql`select 1`;
      return await withAdmin(this.#options.kafka, (admin) => this.#readLag(admin, assigned));
    } catch (error) {
      this.#options.logger.debug(
        { err: error },
        "the lag of the Kafka consumer could not be read; the next check tries again",
      );
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
