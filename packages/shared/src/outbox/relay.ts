import { retryDelayMs } from "#src/bus/retry-delay.ts";
import { readOutboxBacklog } from "#src/outbox.ts";
import { runPass, type PassOptions } from "#src/outbox/pass.ts";
import { startLoop, type Loop } from "#src/process/loop.ts";
import { createAgeGauge, createCounter, createGauge } from "#src/telemetry/metrics.ts";

export interface RelayOptions extends PassOptions {
  /** How often to look without being nudged. Default 200 ms. */
  readonly pollMs?: number;
}

const POLL_MS = 200;
/** Another relay is in its pass, which began before our rows: look again soon. */
const BUSY_MS = 25;
const MAX_PAUSE_MS = 10_000;
const MEASURE_MS = 5_000;

const rowsGauge = createGauge("outbox_rows", "Events that wait in the outbox, at most.", ["topic"]);
const oldestGauge = createAgeGauge(
  "outbox_oldest_seconds",
  "Age of the oldest event in the outbox.",
  ["topic"],
);
const publishedTotal = createCounter("events_published_total", "Events taken from the outbox.", [
  "topic",
]);

/**
 * Moves the service's outbox to the bus, for ever. Any number of replicas may run it, without a leader: one of them at a
 * time has the lock. `nudge` it after a commit that appended; the poll finds what a crash left behind.
 */
export function startRelay(options: RelayOptions): Loop {
  const relay = new Relay(options);
  return startLoop({
    idleMs: MAX_PAUSE_MS,
    work: () => relay.turn(),
    onError: (error) => options.logger.error({ err: error, topic: options.topic }, "relay failed"),
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

  /** One look at the outbox; returns what the loop wants to know. A nudge does not cut the pause after a failure short. */
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
        "events were not published",
      );
      return delayMs;
    }
  }

  async #look(): Promise<boolean | number> {
    await this.#measure();
    const { sql, topic } = this.#options;
    // Cheaper than a transaction with a lock for the many looks that find nothing.
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
