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
