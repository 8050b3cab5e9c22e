import { setTimeout as sleep } from "node:timers/promises";

export interface HeldLease {
  readonly leaseMs: number;
  /** False when another process has taken over the lease. */
  readonly renew: () => Promise<boolean>;
  readonly release: () => Promise<void>;
}

/** Renews a lease until disposal. `signal` aborts when the lease is lost. */
export function holdLease({
  leaseMs,
  renew,
  release,
}: HeldLease): AsyncDisposable & { readonly signal: AbortSignal } {
  const lost = new AbortController();
  const timer = setInterval(() => {
    renew().then(
      (isHeld) => isHeld || lost.abort(new Error("another process has taken over the lease")),
      // Harmless: the update that stores the result checks the lease again.
      () => undefined,
    );
  }, leaseMs / 3);
  return {
    signal: lost.signal,
    [Symbol.asyncDispose]: async () => {
      clearInterval(timer);
      await release();
    },
  };
}

/**
 * Waits up to `ms` for work that continues afterwards, so that a later request finds its result.
 */
export async function within<T>(work: Promise<T>, ms: number): Promise<T | "unavailable"> {
  const stop = new AbortController();
  const late = sleep(Math.max(0, ms), "unavailable" as const, { signal: stop.signal, ref: false });
  try {
    return await Promise.race([work, late]);
  } finally {
    late.catch(() => undefined);
    stop.abort();
  }
}
