import type { Bus, Subscription } from "#src/bus.ts";
import { appendRecords, deleteOldRecords, NOTIFY_CHANNEL } from "#src/bus/postgres-log.ts";
import { startPostgresSubscription } from "#src/bus/postgres-subscription.ts";
import { openSql, type Sql } from "#src/postgres.ts";
import { disposeInOrder } from "#src/process/lifecycle.ts";
import { startLoop, type Loop } from "#src/process/loop.ts";
import type { Logger } from "#src/telemetry/logger.ts";

export interface PostgresBusOptions {
  /** The service's pool; consumers use one connection of it per batch. */
  readonly sql: Sql;
  /** A direct connection (no transaction pooler) to be woken by; without it the bus polls only. */
  readonly listenUrl?: string;
  readonly logger: Logger;
  /** How often consumers look without being woken. Default 1 s. */
  readonly pollMs?: number;
}

const POLL_MS = 1_000;
const RETENTION_MS = 7 * 24 * 3_600_000;
const DAY_MS = 24 * 3_600_000;
const LISTEN_RETRY_MS = 1_000;

/**
 * The bus of one machine: a log table in the schema `bus` (see `postgres/bus.sql`). Publishing is part of the relay's
 * transaction and a consumer's position part of the transaction of its effect, so both are atomic.
 */
export function createPostgresBus(options: PostgresBusOptions): Bus {
  const { sql, logger } = options;
  const loops = new Map<Loop, string>();
  const wake = (topic?: string): void => {
    for (const [loop, of] of loops) if (topic === undefined || of === topic) loop.nudge();
  };
  const listener =
    options.listenUrl === undefined ? undefined : startListener(options.listenUrl, wake, logger);
  const cleaner = startCleaner(sql, logger);
  return {
    system: "postgresql",
    publish: appendRecords,
    subscribe: (subscription: Subscription) => {
      const pollMs = options.pollMs ?? POLL_MS;
      const loop = startPostgresSubscription({ ...subscription, sql, logger, pollMs });
      loops.set(loop, subscription.topic);
      return Promise.resolve({
        [Symbol.asyncDispose]: async () => {
          loops.delete(loop);
          await loop[Symbol.asyncDispose]();
        },
      });
    },
    [Symbol.asyncDispose]: () => disposeInOrder([...loops.keys(), listener, cleaner]),
  };
}

/** Notifications only save waiting, so trouble here costs latency and nothing else. */
function startListener(
  url: string,
  wake: (topic?: string) => void,
  logger: Logger,
): AsyncDisposable {
  const sql = openSql({ url, poolSize: 1, applicationName: "postrider-bus-listen" });
  let listening = false;
  // Once it listens, the driver listens again by itself whenever the connection is lost.
  const loop = startLoop({
    idleMs: DAY_MS,
    work: async () => {
      if (listening) return DAY_MS;
      try {
        // What was notified while nobody listened is found by a look at every topic.
        await sql.listen(NOTIFY_CHANNEL, wake, () => wake());
        listening = true;
        return DAY_MS;
      } catch (error) {
        logger.debug({ err: error }, "cannot listen yet");
        return LISTEN_RETRY_MS;
      }
    },
    onError: (error) => logger.error({ err: error }, "listening failed"),
  });
  return {
    [Symbol.asyncDispose]: async () => {
      await loop[Symbol.asyncDispose]();
      await sql.end({ timeout: 1 });
    },
  };
}

/** Once a day; the first time some minutes after the start, so that replicas do not all come at once. */
function startCleaner(sql: Sql, logger: Logger): AsyncDisposable {
  let dueAt = performance.now() + (1 + Math.random() * 9) * 60_000;
  return startLoop({
    idleMs: DAY_MS,
    work: async () => {
      const leftMs = dueAt - performance.now();
      if (leftMs > 0) return leftMs;
      dueAt = performance.now() + DAY_MS;
      const count = await deleteOldRecords(sql, RETENTION_MS);
      logger.info({ count }, "old events deleted from the log");
      return DAY_MS;
    },
    onError: (error) => logger.warn({ err: error }, "old events were not deleted"),
  });
}
