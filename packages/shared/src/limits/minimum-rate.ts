/** The minimum rate of a transfer of bytes. Slower transfers are ended. */
export interface MinimumRate {
  readonly bytesPerSecond: number;
  /**
   * Maximum time in milliseconds for which a transfer may stand still. A transfer that is slower than `bytesPerSecond`
   * uses this time up, and one that is faster wins it back; without time left, the transfer is ended.
   */
  readonly stallMs: number;
}

/** The minimum rate of uploads, downloads and copies: the rate of a slow mobile connection. */
export const TRANSFER_RATE: MinimumRate = { bytesPerSecond: 16_000, stallMs: 60_000 };

/** Returns the longest time that a transfer of this many bytes takes at the minimum rate, in milliseconds. */
export function longestTransferMs(bytes: number, rate: MinimumRate = TRANSFER_RATE): number {
  return rate.stallMs + (bytes * 1000) / rate.bytesPerSecond;
}

/**
 * Judges whether a transfer keeps its minimum rate, with a budget of time. The budget starts with `stallMs`; elapsed time uses
 * it up, and each byte adds the time that a byte takes at the minimum rate. A transfer without budget is too slow. So a pause
 * is allowed, but neither single bytes nor a fast start keep a transfer alive.
 */
export class RateBudget {
  readonly #rate: MinimumRate;
  #leftMs: number;

  constructor(rate: MinimumRate) {
    this.#rate = rate;
    this.#leftMs = rate.stallMs;
  }

  /**
   * Counts the bytes that were transferred in a period, and the length of the period. Returns whether the transfer is too slow.
   */
  spend({ bytes, elapsedMs }: { readonly bytes: number; readonly elapsedMs: number }): boolean {
    const { bytesPerSecond, stallMs } = this.#rate;
    const earnedMs = (bytes * 1000) / bytesPerSecond;
    this.#leftMs = Math.min(stallMs, this.#leftMs - elapsedMs + earnedMs);
    return this.#leftMs <= 0;
  }
}

export interface WatchedTransfer {
  readonly rate: MinimumRate;
  /** Returns the number of bytes transferred so far. */
  readonly countBytes: () => number;
  /** Whether the transfer now waits for this process or for another server, so that the elapsed time does not count. */
  readonly isExcused: () => boolean;
  /** Ends a transfer that is below its minimum rate. Called at most once. */
  readonly onTooSlow: () => void;
}

/** Number of times per `stallMs` that the rate of a transfer is checked. */
const CHECKS_PER_STALL = 12;

/** Checks the rate of a transfer at regular times until the returned object is disposed of. */
export function watchRate(transfer: WatchedTransfer): Disposable {
  const { rate, countBytes, isExcused, onTooSlow } = transfer;
  const budget = new RateBudget(rate);
  let [seenBytes, seenAt] = [countBytes(), performance.now()];
  const timer = setInterval(() => {
    const [bytes, now] = [countBytes(), performance.now()];
    const elapsedMs = isExcused() ? 0 : now - seenAt;
    const isTooSlow = budget.spend({ bytes: bytes - seenBytes, elapsedMs });
    [seenBytes, seenAt] = [bytes, now];
    if (!isTooSlow) return;
    clearInterval(timer);
    onTooSlow();
  }, rate.stallMs / CHECKS_PER_STALL);
  timer.unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
