/** Interval at which a probe is sent while requests arrive. */
const PROBE_EVERY_MS = 100;
const TICK_MS = 50;
/** Waiting time of a probe from which the connection pool counts as overloaded. */
const MAX_WAIT_MS = 500;
/** Waiting time after which another probe is sent, because the driver may have lost the answer of the first. */
const MAX_PROBE_MS = 15_000;

/**
 * Knows whether statements wait too long for a connection of the pool. It sends a small statement, which waits behind
 * all others, and only while requests ask for the answer, so that an idle process sends none.
 *
 * The waiting time is counted in turns of the event loop: when the process itself was held up, the answer of the probe
 * may be there already.
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

  /** Whether a statement that was sent over half a second ago still waits. */
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
