import { setTimeout as sleep } from "node:timers/promises";
import type { Bus, Subscription, Tail, TailRecord } from "#src/bus.ts";
import {
  appendRecords,
  deleteOldRecords,
  hasNewRecords,
  NOTIFY_CHANNEL,
} from "#src/bus/postgres-log.ts";
import { startPostgresSubscription } from "#src/bus/postgres-subscription.ts";
import { reportLag } from "#src/bus/telemetry.ts";
import { type ISql, openSql, type Sql } from "#src/postgres.ts";
import { askWhetherDue } from "#src/postgres/due-loop.ts";
import { disposeInOrder } from "#src/process/lifecycle.ts";
import { type Loop, startLoop } from "#src/process/loop.ts";
import type { Logger } from "#src/telemetry/logger.ts";

/** Without a notification. */
const IDLE_MS = 30_000;
/** Notifications within it are answered with one statement. */
const GATHER_MS = 50;
const MAX_RECORDS = 200;

async function listNewestIds(
  sql: ISql,
  topics: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await sql<{ topic: string; newest: number }[]>`
    select topic, coalesce((select max(id) from bus.records r where r.topic = own.topic), 0) as newest
    from unnest(${[...topics]}::text[]) as own (topic)`;
  return new Map(rows.map(({ topic, newest }) => [topic, newest]));
}

async function listRecordsAfter(
  sql: ISql,
  offsets: ReadonlyMap<string, number>,
): Promise<readonly TailRecord[]> {
  return await sql<TailRecord[]>`
    select own.topic as place, record.id as "offset", record.key, record.headers, record.value
    from unnest(${[...offsets.keys()]}::text[], ${[...offsets.values()]}::bigint[]) as own (topic, position)
    cross join lateral (
      select id, key, headers, value
      from bus.records
      where topic = own.topic
      and id > own.position
      order by id
      limit ${MAX_RECORDS}
    ) as record
    order by own.topic, record.id`;
}

/** The caller nudges it when a topic has new records. */
function startPostgresTail(
  { topics, onStart, onRecords }: Tail,
  { sql, logger }: { readonly sql: Sql; readonly logger: Logger },
): Loop {
  let offsets: Map<string, number> | undefined;
  return startLoop({
    idleMs: IDLE_MS,
    work: async () => {
      if (offsets === undefined) {
        offsets = new Map(await listNewestIds(sql, topics));
        onStart(offsets);
        return false;
      }
      await sleep(GATHER_MS);
      const records = await listRecordsAfter(sql, offsets);
      for (const { place, offset } of records) offsets.set(place, offset);
      if (records.length > 0) onRecords(records);
      return records.length >= MAX_RECORDS;
    },
    onError: (error) =>
      logger.warn(
        { err: error },
        "new events could not be read for hints to open pages; they are read again after a pause",
      ),
  });
}

interface PostgresBusOptions {
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
