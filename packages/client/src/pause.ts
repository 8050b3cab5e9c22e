/**
 * Waits for the given number of milliseconds.
 *
 * @throws The reason of the signal, as soon as it is aborted.
 */
export async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  const { promise, resolve, reject } = deferred();
  const timer = setTimeout(resolve, ms);
  const abort = (): void => reject(signal?.reason);
  signal?.addEventListener("abort", abort);
  try {
    await promise;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
  }
}

// This does not use `Promise.withResolvers`, which needs Node 22.
function deferred() {
  let resolve = (): void => undefined;
  let reject = (_reason: unknown): void => undefined;
  const promise = new Promise<void>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  return { promise, resolve, reject };
}
