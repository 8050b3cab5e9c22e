import type { Bus, Subscription } from "#src/bus.ts";
import {
  appendRecords,
  deleteOldRecords,
  hasNewRecords,
  NOTIFY_CHANNEL,
} from "#src/bus/postgres-log.ts";
import { startPostgresSubscription } from "#src/bus/postgres-subscription.ts";
import { startPostgresTail } from "#src/bus/postgres-tail.ts";
import { reportLag } from "#src/bus/telemetry.ts";
import { openSql, type Sql } from "#src/postgres.ts";
import { askWhetherDue } from "#src/postgres/due-loop.ts";
import { disposeInOrder } from "#src/process/lifecycle.ts";
import { startLoop, type Loop } from "#src/process/loop.ts";
import type { Logger } from "#src/telemetry/logger.ts";

export interface PostgresBusOptions {
  /** A consumer uses one connection per batch. */
  readonly sql: Sql;
  readonly listenUrl?: string;
  readonly logger: Logger;
  readonly pollMs?: number;
}

const RETENTION_MS = 7 * 24 * 3_600_000;
const DAY_MS = 24 * 3_600_000;
const LISTEN_RETRY_MS = 1_000;

/**
 * For a single machine: a log table in the schema `bus` (`postgres/bus.sql`). Records are published
 * in the relay's transaction, and a consumer's position moves in the transaction of its effect, so
 * both are atomic.
 */
export function createPostgresBus(options: PostgresBusOptions): Bus {
  const { sql, logger } = options;
  const loops = new Map<Loop, Subscription>();
  const tails = new Set<Loop>();
  const wake = (topic?: string): void => {
    for (const [loop, of] of loops) if (topic === undefined || of.topic === topic) loop.nudge();
    for (const tail of tails) tail.nudge();
  };
  const question = askWhetherDue(sql, {
    isDue: (of) => hasNewRecords(of, [...loops.values()]),
    onAnswer: (isDue) => {
      if (isDue) return wake();
      for (const { topic, group } of loops.values())
        reportLag({ topic, group, partition: 0 }, undefined);
    },
  });
  const listener =
    options.listenUrl === undefined ? undefined : startListener(options.listenUrl, wake, logger);
  const cleaner = startCleaner(sql, logger);
  return {
    system: "postgresql",
    publish: appendRecords,
    isHeld: () => Promise.resolve(false),
    check: async () => {
      await sql`select 1 from bus.records limit 1`;
    },
    subscribe: (subscription: Subscription) => {
      const { pollMs } = options;
      const loop = startPostgresSubscription({ ...subscription, sql, logger, pollMs });
      loops.set(loop, subscription);
      return endedWith(loop, loops);
    },
    tail: (tail) => {
      const loop = startPostgresTail(tail, { sql, logger });
      tails.add(loop);
      return endedWith(loop, tails);
    },
    [Symbol.asyncDispose]: () =>
      disposeInOrder([question, ...tails, ...loops.keys(), listener, cleaner]),
  };
}

function endedWith(
  loop: Loop,
  known: { readonly delete: (loop: Loop) => boolean },
): Promise<AsyncDisposable> {
  return Promise.resolve({
    [Symbol.asyncDispose]: async () => {
      known.delete(loop);
      await loop[Symbol.asyncDispose]();
    },
  });
}

/** A failure only adds latency, because consumers also poll. */
function startListener(
  url: string,
  wake: (topic?: string) => void,
  logger: Logger,
): AsyncDisposable {
  const sql = openSql({ url, poolSize: 1, applicationName: "postrider-bus-listen" });
  let listening = false;
  // After the first `listen`, the driver listens again whenever the connection is lost.
  const loop = startLoop({
    idleMs: DAY_MS,
    work: async () => {
      if (listening) return DAY_MS;
      try {
        // Finds the records whose notification came before.
        await sql.listen(NOTIFY_CHANNEL, wake, () => wake());
        listening = true;
        return DAY_MS;
      } catch (error) {
        logger.debug(
          { err: error },
          "listening to Postgres for notifications of new events failed; it is tried again after a pause",
        );
        return LISTEN_RETRY_MS;
      }
    },
    onError: (error) =>
      logger.error(
        { err: error },
        "listening to Postgres for notifications of new events failed; new events are found by polling",
      ),
  });
  return {
    [Symbol.asyncDispose]: async () => {
      await loop[Symbol.asyncDispose]();
      await sql.end({ timeout: 1 });
    },
  };
}

/** The first run is after a random number of minutes, so that replicas do not start together. */
function startCleaner(sql: Sql, logger: Logger): AsyncDisposable {
  let dueAt = performance.now() + (1 + Math.random() * 9) * 60_000;
  return startLoop({
    idleMs: DAY_MS,
    work: async () => {
      const leftMs = dueAt - performance.now();
      if (leftMs > 0) return leftMs;
      dueAt = performance.now() + DAY_MS;
      const count = await deleteOldRecords(sql, RETENTION_MS);
      logger.info({ count }, "old events were deleted from the event log");
      return DAY_MS;
    },
    onError: (error) =>
      logger.warn(
        { err: error },
        "old events could not be deleted from the event log; the next daily run tries again",
      ),
  });
}
