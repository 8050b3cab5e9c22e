import { MAX_BATCH_RECORDS, type Subscription } from "#src/bus.ts";
import { reportLag } from "#src/bus/lag.ts";
import {
  findNewestId,
  insertPosition,
  lockPosition,
  peek,
  readRecords,
  updatePosition,
} from "#src/bus/postgres-log.ts";
import { retryDelayMs } from "#src/bus/retry-delay.ts";
import type { Sql, TransactionSql } from "#src/postgres.ts";
import { startLoop, type Loop } from "#src/process/loop.ts";
import type { Logger } from "#src/telemetry/logger.ts";

export interface PostgresSubscriptionOptions extends Subscription {
  readonly sql: Sql;
  readonly logger: Logger;
  /** How often to look without being notified. */
  readonly pollMs: number;
}

/** Longer than any pause that a turn asks for. */
const MAX_PAUSE_MS = 60_000;

/** Starts to work on a topic for a group; replicas of the group take turns, one batch each. */
export function startPostgresSubscription(options: PostgresSubscriptionOptions): Loop {
  const { logger, topic, group } = options;
  const subscription = new PostgresSubscription(options);
  return startLoop({
    idleMs: MAX_PAUSE_MS,
    work: () => subscription.turn(),
    onError: (error) => logger.error({ err: error, topic, group }, "consumer failed"),
  });
}

class PostgresSubscription {
  readonly #options: PostgresSubscriptionOptions;
  #failures = 0;
  #pausedUntil = 0;

  constructor(options: PostgresSubscriptionOptions) {
    this.#options = options;
  }

  /** One look at the topic; true when there may be more. A notification does not cut the pause after a failure short. */
  async turn(): Promise<boolean | number> {
    const leftMs = this.#pausedUntil - performance.now();
    if (leftMs > 0) return leftMs;
    try {
      const hasMore = await this.#look();
      this.#failures = 0;
      return hasMore || this.#options.pollMs;
    } catch (error) {
      this.#failures += 1;
      const delayMs = retryDelayMs(error, this.#failures);
      this.#pausedUntil = performance.now() + delayMs;
      const { logger, topic, group } = this.#options;
      logger.warn(
        { err: error, topic, group, attempt: this.#failures, delayMs },
        "batch will be retried",
      );
      return delayMs;
    }
  }

  async #look(): Promise<boolean> {
    const { sql, group, topic } = this.#options;
    const found = await peek(sql, group, topic);
    if (found === "no position") await insertPosition(sql, group, topic);
    if (found === "nothing new") {
      reportLag({ topic, group, partition: 0 }, undefined);
      return false;
    }
    const hasMore = await sql.begin((tx) => this.#workOnBatch(tx));
    // Also when another replica is at it: then the lag is that one's to tell.
    if (!hasMore) reportLag({ topic, group, partition: 0 }, undefined);
    this.#options.onCommitted?.();
    return hasMore;
  }

  async #workOnBatch(tx: TransactionSql): Promise<boolean> {
    const { group, topic, handle } = this.#options;
    const position = await lockPosition(tx, group, topic);
    if (position === undefined) return false;
    const records = await readRecords(tx, topic, position, MAX_BATCH_RECORDS);
    const last = records.at(-1);
    if (last === undefined) return await this.#startOver(tx, position);
    reportLag({ topic, group, partition: 0 }, records[0]?.appendedAt);
    await handle(tx, records);
    await updatePosition(tx, group, topic, last.id);
    return records.length === MAX_BATCH_RECORDS;
  }

  /**
   * A position behind the end of the log belongs to a log that is gone (a restored or rebuilt table whose ids began anew).
   * Beginning again repeats events, which handlers bear; going on would skip all up to the old position.
   */
  async #startOver(tx: TransactionSql, position: number): Promise<boolean> {
    const { group, topic, logger } = this.#options;
    const newest = await findNewestId(tx, topic);
    if (newest === undefined || newest >= position) return false;
    logger.warn({ topic, group }, "the log begins anew, and so does the consumer");
    await updatePosition(tx, group, topic, 0);
    return true;
  }
}
