/** A lease that this process holds on rows of the database. */
export interface HeldLease {
  readonly leaseMs: number;
  /** Extends the lease; returns false when another process has taken it over. */
  readonly renew: () => Promise<boolean>;
  readonly release: () => Promise<void>;
}

/** Renews a lease until disposal. The returned `signal` aborts when this process has lost the lease. */
export function holdLease({
  leaseMs,
  renew,
  release,
}: HeldLease): AsyncDisposable & { readonly signal: AbortSignal } {
  const lost = new AbortController();
  const timer = setInterval(() => {
    renew().then(
      (isHeld) => isHeld || lost.abort(new Error("another process has taken over the lease")),
      // A failed renewal of the lease is harmless: the update that stores the result checks again whether this process
      // holds the lease.
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
