import { retryDelayMs } from "#src/bus/retry-delay.ts";
import { readOutboxBacklog } from "#src/outbox.ts";
import { runPass, type PassOptions } from "#src/outbox/pass.ts";
import { startLoop, type Loop } from "#src/process/loop.ts";
import { createAgeGauge, createCounter, createGauge } from "#src/telemetry/metrics.ts";

export interface RelayOptions extends PassOptions {
  /** Interval at which the outbox relay looks for events when `nudge` is not called. Default: 200 ms. */
  readonly pollMs?: number;
}

const POLL_MS = 200;
/**
 * Pause of an outbox relay while another relay holds the lock. It tries again, because the other relay may have read
 * the outbox before our rows were committed.
 */
const BUSY_MS = 25;
const MAX_PAUSE_MS = 10_000;
const MEASURE_MS = 5_000;

const rowsGauge = createGauge("outbox_rows", "Events that wait in the outbox (upper bound).", [
  "topic",
]);
const oldestGauge = createAgeGauge(
  "outbox_oldest_seconds",
  "Age of the oldest event in the outbox.",
  ["topic"],
);
const publishedTotal = createCounter(
  "events_published_total",
  "Events published from the outbox.",
  ["topic"],
);

/**
 * Publishes the service's outbox to the bus until disposed of. Any number of replicas may run a relay; the lock ensures
 * that only one replica publishes at a time. `nudge` the relay after a commit that appended events. Polling finds
 * events that a crash left behind.
 */
export function startRelay(options: RelayOptions): Loop {
  const relay = new Relay(options);
  return startLoop({
    idleMs: MAX_PAUSE_MS,
    work: () => relay.turn(),
    onError: (error) =>
      options.logger.error(
        { err: error, topic: options.topic },
        "the outbox relay failed; it continues after a pause",
      ),
  });
}

class Relay {
  readonly #options: RelayOptions;
  readonly #pollMs: number;
  #failures = 0;
  #pausedUntil = 0;
  #measuredAt = Number.NEGATIVE_INFINITY;

  constructor(options: RelayOptions) {
    this.#options = options;
    this.#pollMs = options.pollMs ?? POLL_MS;
  }

  /**
   * Publishes events if the outbox has rows; returns when to run again. A call of `nudge` does not shorten the pause
   * after a failure.
   */
  async turn(): Promise<boolean | number> {
    const leftMs = this.#pausedUntil - performance.now();
    if (leftMs > 0) return leftMs;
    try {
      const next = await this.#look();
      this.#failures = 0;
      return next;
    } catch (error) {
      this.#failures += 1;
      const delayMs = retryDelayMs(error, this.#failures);
      this.#pausedUntil = performance.now() + delayMs;
      const { logger, topic } = this.#options;
      logger.warn(
        { err: error, topic, attempt: this.#failures, delayMs },
        "events in the outbox could not be published; they are tried again after a pause",
      );
      return delayMs;
    }
  }

  async #look(): Promise<boolean | number> {
    await this.#measure();
    const { sql, topic } = this.#options;
    // This statement is cheaper than a transaction with a lock, and the outbox is empty most of the time.
    const waiting = await sql`select 1 from outbox limit 1`;
    if (waiting.length === 0) return this.#pollMs;
    const result = await runPass(this.#options);
    if (result === "busy") return BUSY_MS;
    publishedTotal.inc({ topic }, result.rows);
    return result.isFull || this.#pollMs;
  }

  async #measure(): Promise<void> {
    if (performance.now() - this.#measuredAt < MEASURE_MS) return;
    const backlog = await readOutboxBacklog(this.#options.sql);
    rowsGauge.set({ topic: this.#options.topic }, backlog.rows);
    const since = backlog.rows === 0 ? undefined : new Date(Date.now() - backlog.oldestMs);
    oldestGauge.set({ topic: this.#options.topic }, since);
    this.#measuredAt = performance.now();
  }
}
