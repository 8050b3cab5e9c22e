import { RefusedRecordsError } from "#src/bus.ts";
import { retryDelayMs } from "#src/bus/retries.ts";
import { topicOf } from "#src/bus/topics.ts";
import { readOutboxBacklog } from "#src/outbox.ts";
import { type OutboxFloor, outboxFloorOf } from "#src/outbox/floor.ts";
import { type PassOptions, type PassResult, runPass } from "#src/outbox/pass.ts";
import { MAX_REQUEST_ROWS, type OpenRequest, type OutboxRow } from "#src/outbox/publish-rows.ts";
import { isInfrastructureError } from "#src/postgres.ts";
import { startDueLoop } from "#src/postgres/due-loop.ts";
import type { Loop } from "#src/process/loop.ts";
import { createAgeGauge, createCounter, createGauge } from "#src/telemetry/metrics.ts";

/** After this time the events are sent again. The Kafka client ends its own attempt earlier. */
const MAX_OPEN_MS = 30_000;

/**
 * The request that had no answer when its transaction ended. While it is open, nothing else is
 * sent: a later request that overtakes it would change the order of events, and sending the same
 * events again would make a slow bus slower.
 */
class OpenRequestSlot {
  #rows: readonly OutboxRow[] = [];
  #isOpen = false;
  #givenUpAt = 0;

  hold({ rows, answer }: OpenRequest): void {
    this.#rows = rows;
    this.#isOpen = true;
    this.#givenUpAt = performance.now() + MAX_OPEN_MS;
    const settle = (stored: readonly OutboxRow[]): void => {
      if (this.#rows !== rows) return;
      this.#rows = stored;
      this.#isOpen = false;
    };
    answer.then(
      () => settle(rows),
      () => settle([]),
    );
  }

  isWaiting(): boolean {
    if (this.#isOpen && performance.now() >= this.#givenUpAt) {
      this.#isOpen = false;
      this.#rows = [];
    }
    return this.#isOpen;
  }

  /** Once the bus has stored them; empty after `clear`, when they are deleted from the outbox. */
  get stored(): readonly OutboxRow[] {
    return this.#isOpen ? [] : this.#rows;
  }

  clear(): void {
    this.#rows = [];
  }
}

export interface RelayOptions extends Omit<PassOptions, "topicOf"> {
  readonly topicOf?: PassOptions["topicOf"];
  /** When `nudge` is not called, and in addition to the question of `startDueLoop`. */
  readonly pollMs?: number;
}

/** It may have read the outbox before this process committed its events. */
const BUSY_MS = 25;
const MAX_PAUSE_MS = 10_000;
/** Added to the time after which events flow again when the bus is back. */
const MAX_FAILURE_PAUSE_MS = 1_000;
/** Pause while the data belongs to another deployment that may use the same bus. */
const HELD_MS = 1_000;
/** How often the backlog is measured, and the floor is raised, while there are events. */
const MEASURE_MS = 2_000;

const rowsGauge = createGauge("outbox_rows", "Events that wait in the outbox (upper bound).", [
  "service",
]);
const oldestGauge = createAgeGauge(
  "outbox_oldest_seconds",
  "Age of the oldest event in the outbox.",
  ["service"],
);
const publishedTotal = createCounter(
  "events_published_total",
  "Events published from the outbox.",
  ["topic"],
);

/**
 * Any number of replicas may run a relay; the lock ensures that only one publishes at a time.
 * `nudge` it after a commit that appended events. Polling finds events that a crash left behind.
 */
export function startRelay(options: RelayOptions): Loop {
  const relay = new Relay(options);
  const floor = outboxFloorOf(options.sql);
  return startDueLoop({
    sql: options.sql,
    isDue: (sql) => sql`exists (select from outbox where id >= ${floor.id})`,
    idleMs: options.pollMs ?? MAX_PAUSE_MS,
    work: (isNudged) => relay.turn(isNudged),
    onError: (error) =>
      options.logger.error(
        { err: error },
        "publishing events from the outbox failed with an unexpected error; it continues after a pause",
      ),
  });
}

class Relay {
  readonly #options: PassOptions;
  readonly #floor: OutboxFloor;
  readonly #open = new OpenRequestSlot();
  #requestRows = MAX_REQUEST_ROWS;
  #failures = 0;
  #pausedUntil = 0;
  #measuredAt = Number.NEGATIVE_INFINITY;
  #isCareful = false;

  constructor(options: RelayOptions) {
    this.#options = { topicOf, ...options };
    this.#floor = outboxFloorOf(options.sql);
  }

  /** Returns when to run again. A nudge does not shorten the pause after a failure. */
  async turn(isNudged: boolean): Promise<boolean | number> {
    const leftMs = this.#pausedUntil - performance.now();
    if (leftMs > 0) return leftMs;
    if (this.#open.isWaiting()) return BUSY_MS;
    try {
      const next = await this.#look(isNudged);
      this.#failures = 0;
      return next;
    } catch (error) {
      if (isInfrastructureError(error)) this.#floor.reset();
      const isFirst = !this.#isCareful;
      this.#isCareful = true;
      if (isFirst && error instanceof RefusedRecordsError) return true;
      this.#failures += 1;
      const delayMs = Math.min(MAX_FAILURE_PAUSE_MS, retryDelayMs(error, this.#failures));
      this.#pausedUntil = performance.now() + delayMs;
      this.#options.logger.warn(
        { err: error, attempt: this.#failures, delayMs },
        "events in the outbox could not be published; they are tried again after a pause",
      );
      return delayMs;
    }
  }

  /** Measures first only if there is probably nothing to publish. */
  async #look(isNudged: boolean): Promise<boolean | number> {
    if (!isNudged && this.#isMeasureDue() && (await this.#measure()) === 0) return false;
    if (await this.#options.bus.isHeld()) return HELD_MS;
    const result = await runPass(this.#options, {
      floor: this.#floor.id,
      requestRows: this.#requestRows,
      stored: this.#open.stored,
      isCareful: this.#isCareful,
    });
    const next = result === "busy" ? BUSY_MS : this.#afterPass(result);
    if (this.#isMeasureDue()) await this.#measure();
    return next;
  }

  /** @throws The error of the bus, if no event was published. */
  #afterPass(result: Exclude<PassResult, "busy">): boolean | number {
    const { rows, isFull, requestRows, failure } = result;
    const { logger, topicOf } = this.#options;
    for (const [topic, ofTopic] of Map.groupBy(rows, ({ type }) => topicOf(type)))
      publishedTotal.inc({ topic }, ofTopic.length);
    this.#requestRows = requestRows;
    this.#open.clear();
    this.#isCareful = failure !== undefined;
    if (failure === undefined) return isFull;
    if (failure.open !== undefined) this.#open.hold(failure.open);
    if (rows.length === 0) throw failure.error;
    logger.warn(
      { err: failure.error, count: rows.length },
      "the event bus did not accept all events of the outbox in time; the rest is sent in smaller requests",
    );
    return true;
  }

  #isMeasureDue(): boolean {
    return performance.now() - this.#measuredAt >= MEASURE_MS;
  }

  /** Returns the number of events that wait. */
  async #measure(): Promise<number> {
    const { sql, service } = this.#options;
    const { rows, oldestMs, lastId } = await readOutboxBacklog(sql, this.#floor.id);
    await this.#floor.advance(sql, lastId);
    rowsGauge.set({ service }, rows);
    oldestGauge.set({ service }, rows === 0 ? undefined : new Date(Date.now() - oldestMs));
    this.#measuredAt = performance.now();
    return rows;
  }
}
