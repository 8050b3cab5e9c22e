import { type BatchHandler, type Bus, type BusRecord, RetryLaterError } from "#src/bus.ts";
import { eventAgeMs, eventIdOf, eventTypeOf } from "#src/bus/cloud-events.ts";
import type { EventHandler } from "#src/bus/event-handler.ts";
import { type Failure, workHalving } from "#src/bus/halving.ts";
import { parkEvent, watchParkedEvents } from "#src/bus/parking.ts";
import { isTransientError } from "#src/bus/retries.ts";
import { SlowEvents } from "#src/bus/slow-events.ts";
import { inRecordSpans } from "#src/bus/telemetry.ts";
import type { Sql, TransactionSql } from "#src/postgres.ts";
import { failpoint } from "#src/process/failpoints.ts";
import { disposeInOrder } from "#src/process/lifecycle.ts";
import type { Logger } from "#src/telemetry/logger.ts";
import { createCounter } from "#src/telemetry/metrics.ts";

const MAX_ENTRIES = 10_000;

/**
 * How often each event has failed alone. In memory only: a restart repeats a few tries, whereas
 * storing the counts would need a second transaction, because that of the events is rolled back.
 */
class TryCounts {
  readonly #counts = new Map<string, number>();

  /** Returns the number of failures. */
  add(eventId: string): number {
    const count = (this.#counts.get(eventId) ?? 0) + 1;
    if (this.#counts.size >= MAX_ENTRIES) this.#counts.clear();
    this.#counts.set(eventId, count);
    return count;
  }

  /** Returns the number of failures, at least 1, and forgets the event. */
  take(eventId: string): number {
    const count = this.#counts.get(eventId) ?? 1;
    this.#counts.delete(eventId);
    return count;
  }
}

export { handleEvents, type EventHandler, type IncomingEvent } from "#src/bus/event-handler.ts";

export interface ConsumerOptions {
  readonly bus: Bus;
  readonly sql: Sql;
  /** The service, or `<service>.<part>` for a part that handles a topic independently. */
  readonly group: string;
  readonly topic: string;
  readonly handlers: readonly EventHandler[];
  readonly logger: Logger;
  /** Called after a commit, to wake jobs that continue the work. Must not throw. */
  readonly onCommitted?: () => void;
  /** How often an event may fail alone before it is stored in `parked_events`. Default: 5. */
  readonly maxTries?: number;
  /**
   * Until then an unknown event type may be one of a newer replica; then it is parked. Default: 2
   * min.
   */
  readonly unknownTypeWaitMs?: number;
  /** See `SlowEvents`. Default: 30 min. */
  readonly slowEventMs?: number;
}

const MAX_TRIES = 5;
const UNKNOWN_TYPE_WAIT_MS = 120_000;
const UNKNOWN_TYPE_POLL_MS = 5_000;
const SLOW_EVENT_MS = 30 * 60_000;

const handledTotal = createCounter(
  "events_handled_total",
  "Events handled, including repeated ones.",
  ["topic", "type"],
);

/**
 * Consumes a topic with one transaction for each batch. An event that fails `maxTries` times is
 * stored in `parked_events`, and the consumer continues.
 */
export async function startConsumer(options: ConsumerOptions): Promise<AsyncDisposable> {
  const { bus, sql, group, topic, logger, onCommitted } = options;
  const handle = createBatchHandler(options);
  const place = { system: bus.system, topic };
  const subscription = await bus.subscribe({
    group,
    topic,
    handle: (tx, records) => inRecordSpans("process", records, place, (named) => handle(tx, named)),
    ...(onCommitted === undefined ? {} : { onCommitted }),
  });
  const watch = watchParkedEvents(sql, topic, logger);
  return { [Symbol.asyncDispose]: () => disposeInOrder([subscription, watch]) };
}

/** Each topic has a consumer of its own, so that none waits for the events of another one. */
export async function startConsumers(
  options: Omit<ConsumerOptions, "topic" | "handlers">,
  handlersByTopic: Readonly<Record<string, readonly EventHandler[]>>,
): Promise<readonly AsyncDisposable[]> {
  return await Promise.all(
    Object.entries(handlersByTopic).map(([topic, handlers]) =>
      startConsumer({ ...options, topic, handlers }),
    ),
  );
}

type HandlerOptions = Omit<ConsumerOptions, "bus" | "sql" | "group" | "onCommitted">;

/** The same for the Kafka bus and the Postgres bus. */
export function createBatchHandler(options: HandlerOptions): BatchHandler {
  const handle = createRetryingHandler(options);
  const slow = new SlowEvents(options.slowEventMs ?? SLOW_EVENT_MS);
  return async (tx, records) => {
    const only = records.length === 1 ? records[0] : undefined;
    if (only === undefined) return await handle(tx, records);
    const givenUp = slow.findGivenUp(eventIdOf(only));
    if (givenUp !== undefined) return await park(tx, options, only, givenUp);
    const startedAt = performance.now();
    try {
      await handle(tx, records);
    } catch (error) {
      slow.failed(eventIdOf(only), error, startedAt);
      throw error;
    }
  };
}

function createRetryingHandler(options: HandlerOptions): BatchHandler {
  const handlers = new Map(options.handlers.map((handler) => [handler.schema.typeName, handler]));
  const known = knownTypes(options.handlers);
  const tries = new TryCounts();
  const work = createWork();
  return async (tx, records) => {
    const unknownRecords = records.filter((record) => !known.has(eventTypeOf(record)));
    waitForNewerReplica(unknownRecords, options.unknownTypeWaitMs ?? UNKNOWN_TYPE_WAIT_MS);
    const failures: Failure<BusRecord>[] = [];
    for (const [type, group] of Map.groupBy(records, eventTypeOf)) {
      const handler = handlers.get(type);
      if (handler === undefined) continue;
      const bad = await work.handle(tx, group, handler.handle);
      handledTotal.inc({ topic: options.topic, type }, group.length - bad.length);
      failures.push(...bad);
    }
    const exhausted = countTries(tries, failures, options.maxTries ?? MAX_TRIES);
    const unknown = unknownRecords.map((item) => ({
      item,
      error: new Error("there is no handler for this type of event"),
    }));
    for (const { item, error } of [...exhausted, ...unknown])
      await park(tx, options, item, { tries: tries.take(eventIdOf(item)), error });
    failpoint("consumer.effect");
    work.succeeded();
  };
}

/**
 * Savepoints for halving a batch cost two round trips, so only the batch after one that failed has
 * them.
 */
function createWork() {
  let isCareful = false;
  return {
    async handle(
      tx: TransactionSql,
      records: readonly BusRecord[],
      handler: BatchHandler,
    ): Promise<readonly Failure<BusRecord>[]> {
      if (isCareful) return await workHalving(tx, records, handler);
      try {
        await handler(tx, records);
        return [];
      } catch (error) {
        if (isTransientError(error)) throw error;
        isCareful = true;
        throw new RetryLaterError("a batch failed and will be halved", 0, error);
      }
    },
    succeeded: (): void => {
      isCareful = false;
    },
  };
}

/** All messages of the proto files of the handled types; known ones without handler are skipped. */
function knownTypes(handlers: readonly EventHandler[]): ReadonlySet<string> {
  const files = new Set(handlers.map((handler) => handler.schema.file));
  return new Set([...files].flatMap((file) => file.messages.map((message) => message.typeName)));
}

/** A newer replica that is just starting may know the type. */
function waitForNewerReplica(records: readonly BusRecord[], waitMs: number): void {
  const now = Date.now();
  const leftMs = Math.max(...records.map((record) => waitMs - eventAgeMs(record, now)));
  const [first] = records;
  if (first === undefined || leftMs <= 0) return;
  const message = `there is no handler for ${eventTypeOf(first)} yet`;
  throw new RetryLaterError(message, Math.min(leftMs, UNKNOWN_TYPE_POLL_MS));
}

/**
 * Returns the events when each of them has failed `maxTries` times, so that the caller parks them.
 *
 * @throws RetryLaterError while one of them has tries left.
 */
function countTries(
  tries: TryCounts,
  failures: readonly Failure<BusRecord>[],
  maxTries: number,
): readonly Failure<BusRecord>[] {
  const counts = failures.map(({ item }) => tries.add(eventIdOf(item)));
  const least = Math.min(...counts);
  if (least < maxTries) {
    const cause = failures[counts.indexOf(least)]?.error;
    throw new RetryLaterError("an event failed and will be retried", 100 * 2 ** (least - 1), cause);
  }
  return failures;
}

async function park(
  tx: TransactionSql,
  { topic, logger }: HandlerOptions,
  item: BusRecord,
  { tries, error }: { readonly tries: number; readonly error: unknown },
): Promise<void> {
  const eventId = eventIdOf(item);
  const type = eventTypeOf(item);
  const event = { eventId, type, key: item.key, payload: item.value, headers: item.headers };
  await parkEvent(tx, { direction: "in", topic, event, error, tries });
  logger.error(
    { err: error, topic, eventType: type, eventId },
    "an event could not be processed after several tries and was parked; fix the cause, then run `postrider events redrive`",
  );
}
