/** Slower transfers are ended. */
export interface MinimumRate {
  readonly bytesPerSecond: number;
  /** Slower than `bytesPerSecond` uses this time up, faster wins it back. */
  readonly stallMs: number;
}

/** The rate of a slow mobile connection. */
export const TRANSFER_RATE: MinimumRate = { bytesPerSecond: 16_000, stallMs: 60_000 };

/** Returns how long a transfer takes at the minimum rate. */
export function longestTransferMs(bytes: number, rate: MinimumRate = TRANSFER_RATE): number {
  return rate.stallMs + (bytes * 1000) / rate.bytesPerSecond;
}

/**
 * A budget of time: it starts with `stallMs`, elapsed time uses it up, and each byte adds the time
 * of a byte at the minimum rate. So a pause is allowed, but neither single bytes nor a fast start
 * keep a transfer alive.
 */
export class RateBudget {
  readonly #rate: MinimumRate;
  #leftMs: number;

  constructor(rate: MinimumRate) {
    this.#rate = rate;
    this.#leftMs = rate.stallMs;
  }

  /** Returns whether the transfer is too slow. */
  spend({ bytes, elapsedMs }: { readonly bytes: number; readonly elapsedMs: number }): boolean {
    const { bytesPerSecond, stallMs } = this.#rate;
    const earnedMs = (bytes * 1000) / bytesPerSecond;
    this.#leftMs = Math.min(stallMs, this.#leftMs - elapsedMs + earnedMs);
    return this.#leftMs <= 0;
  }
}

export interface WatchedTransfer {
  readonly rate: MinimumRate;
  readonly countBytes: () => number;
  /** The transfer waits for this process or another server, so time does not count. */
  readonly isExcused: () => boolean;
  /** Called at most once. */
  readonly onTooSlow: () => void;
}

/** Per `stallMs`. */
const CHECKS_PER_STALL = 12;

/** Until disposal. */
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
