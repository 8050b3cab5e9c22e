import type { Subscription } from "#src/bus.ts";
import { BatchSize } from "#src/bus/batch-size.ts";
import {
  findNewestId,
  hasNewRecords,
  insertPosition,
  lockAndRead,
  updatePosition,
} from "#src/bus/postgres-log.ts";
import { retryDelayMs } from "#src/bus/retries.ts";
import { reportLag } from "#src/bus/telemetry.ts";
import type { Sql, TransactionSql } from "#src/postgres.ts";
import { type Loop, startLoop } from "#src/process/loop.ts";
import type { Logger } from "#src/telemetry/logger.ts";

export interface PostgresSubscriptionOptions extends Subscription {
  readonly sql: Sql;
  readonly logger: Logger;
  readonly pollMs?: number | undefined;
}

/** Without a nudge. */
const IDLE_MS = 60_000;

/** The replicas of a service process batches in turn. */
export function startPostgresSubscription(options: PostgresSubscriptionOptions): Loop {
  const { logger, topic, group, pollMs = IDLE_MS } = options;
  const subscription = new PostgresSubscription(options);
  return startLoop({
    idleMs: pollMs,
    work: (isNudged) => subscription.turn(isNudged),
    onError: (error) =>
      logger.error(
        { err: error, topic, group },
        "an event consumer failed with an unexpected error; it continues after a pause",
      ),
  });
}

class PostgresSubscription {
  readonly #options: PostgresSubscriptionOptions;
  readonly #size = new BatchSize();
  #failures = 0;
  #pausedUntil = 0;

  constructor(options: PostgresSubscriptionOptions) {
    this.#options = options;
  }

  /** True when there may be more, or a pause, which a notification does not shorten. */
  async turn(isNudged: boolean): Promise<boolean | number> {
    const leftMs = this.#pausedUntil - performance.now();
    if (leftMs > 0) return leftMs;
    try {
      const hasMore = isNudged || (await this.#isBehind()) ? await this.#workOnNext() : false;
      this.#failures = 0;
      return hasMore;
    } catch (error) {
      this.#failures += 1;
      const delayMs = retryDelayMs(error, this.#failures);
      this.#pausedUntil = performance.now() + delayMs;
      const { logger, topic, group } = this.#options;
      logger.warn(
        { err: error, topic, group, attempt: this.#failures, delayMs },
        "a batch of events could not be processed; it is tried again after a pause",
      );
      return delayMs;
    }
  }

  async #isBehind(): Promise<boolean> {
    const { sql, group, topic } = this.#options;
    const [row] = await sql<[{ isBehind: boolean }]>`
      select ${hasNewRecords(sql, [{ group, topic }])} as is_behind`;
    if (!row.isBehind) reportLag({ topic, group, partition: 0 }, undefined);
    return row.isBehind;
  }

  async #workOnNext(): Promise<boolean> {
    const { sql, group, topic } = this.#options;
    const hasMore = await sql.begin((tx) => this.#workOnBatch(tx));
    // While another replica holds the position, that replica reports the lag.
    if (hasMore !== true) reportLag({ topic, group, partition: 0 }, undefined);
    if (hasMore === undefined) return await insertPosition(sql, group, topic);
    this.#options.onCommitted?.();
    return hasMore;
  }

  /** Undefined if there was nothing to do. */
  async #workOnBatch(tx: TransactionSql): Promise<boolean | undefined> {
    const { group, topic, handle } = this.#options;
    const limit = this.#size.records;
    const locked = await lockAndRead(tx, { group, topic, limit });
    if (locked === undefined) return undefined;
    const { position, records } = locked;
    const last = records.at(-1);
    if (last === undefined) return await this.#startOver(tx, position);
    reportLag({ topic, group, partition: 0 }, records[0]?.appendedAt);
    const startedAt = performance.now();
    try {
      await handle(tx, records);
    } catch (error) {
      this.#size.failed(error, records.length, performance.now() - startedAt);
      throw error;
    }
    await updatePosition(tx, group, topic, last.id);
    this.#size.succeeded(records.length, performance.now() - startedAt);
    return records.length === limit;
  }

  /**
   * A position after the last record belongs to a log that was replaced, for example by a restored
   * table. Starting at the beginning repeats events, which handlers tolerate; continuing would skip
   * all events up to the old position.
   */
  async #startOver(tx: TransactionSql, position: number): Promise<boolean> {
    const { group, topic, logger } = this.#options;
    const newest = await findNewestId(tx, topic);
    if (newest === undefined || newest >= position) return false;
    logger.warn(
      { topic, group },
      "the event log ends before the consumer's position, because its table was restored or created again; the consumer starts at the beginning of the log",
    );
    await updatePosition(tx, group, topic, 0);
    return true;
  }
}
