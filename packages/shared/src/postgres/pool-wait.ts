/** Interval of probes while requests arrive. */
const PROBE_EVERY_MS = 100;
const TICK_MS = 50;
/** A probe that waits longer means that many statements wait. */
const BUSY_MS = 500;
/** One that waits longer means that the database does not answer. */
const STUCK_MS = 2_000;
/** After this time another probe is sent, because the driver may have lost the first answer. */
const MAX_PROBE_MS = 15_000;

export type PoolState = "free" | "busy" | "stuck";

/**
 * Measures whether statements wait too long for a connection, by a small statement that waits
 * behind all others, only while requests ask for the result.
 *
 * A timer counts the wait, and a blocked event loop also delays the timer: so the time in which the
 * process was blocked does not count, when the answer may have arrived without being read.
 */
export class PoolWait {
  readonly #probe: () => PromiseLike<unknown>;
  #waitedMs = 0;
  #sentAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;

  /** @param probe Sends a small statement through the pool. */
  constructor(probe: () => PromiseLike<unknown>) {
    this.#probe = probe;
  }

  state(): PoolState {
    if (this.#timer === undefined && performance.now() - this.#sentAt >= PROBE_EVERY_MS)
      this.#send();
    if (this.#waitedMs >= STUCK_MS) return "stuck";
    return this.#waitedMs >= BUSY_MS ? "busy" : "free";
  }

  #send(): void {
    this.#sentAt = performance.now();
    const timer = setInterval(() => {
      this.#waitedMs += TICK_MS;
      if (this.#waitedMs >= MAX_PROBE_MS) this.#end(timer);
    }, TICK_MS);
    timer.unref();
    this.#timer = timer;
    const end = (): void => this.#end(timer);
    this.#probe().then(end, end);
  }

  #end(timer: NodeJS.Timeout): void {
    clearInterval(timer);
    if (this.#timer !== timer) return;
    this.#timer = undefined;
    this.#waitedMs = 0;
  }
}
