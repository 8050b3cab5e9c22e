/** Interval at which a probe, a statement that measures the wait for a connection, is sent while requests arrive. */
const PROBE_EVERY_MS = 100;
const TICK_MS = 50;
/** Milliseconds that a probe statement waits until the connection pool counts as overloaded. */
const MAX_WAIT_MS = 500;
/**
 * Waiting time of a probe statement after which another one is sent, because the driver may have lost the first answer.
 */
const MAX_PROBE_MS = 15_000;

/**
 * Measures whether statements wait too long for a connection of the connection pool. It sends a probe: a small
 * statement, which waits behind all others. Probes are sent only while requests ask for the result, so that an idle
 * process sends none.
 *
 * A timer counts the waiting time of a probe, and a blocked event loop also delays the timer. So the time in which the
 * process itself was blocked does not count: the answer to the probe may have arrived meanwhile without being read.
 */
export class PoolWait {
  readonly #probe: () => PromiseLike<unknown>;
  #waitedMs = 0;
  #sentAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;

  /** @param probe Sends a small statement through the connection pool, to measure how long it waits. */
  constructor(probe: () => PromiseLike<unknown>) {
    this.#probe = probe;
  }

  /** Whether a probe statement has waited for at least half a second and is still not answered. */
  isTooLong(): boolean {
    if (this.#timer === undefined && performance.now() - this.#sentAt >= PROBE_EVERY_MS)
      this.#send();
    return this.#waitedMs >= MAX_WAIT_MS;
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
