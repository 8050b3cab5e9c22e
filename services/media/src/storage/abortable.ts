/**
 * Yields the bytes of `source` and throws the signal's reason as soon as the signal aborts, also while the source is
 * silent. It then asks the source to end, but does not wait for the end, because a source that hangs would block the
 * caller.
 */
export async function* abortable(
  bytes: AsyncIterable<Uint8Array>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array, void, undefined> {
  signal?.throwIfAborted();
  const iterator = bytes[Symbol.asyncIterator]();
  // `Promise.race` with one long-lived promise would leak memory for each chunk.
  let fail: (reason: unknown) => void = () => {};
  const abort = (): void => fail(signal?.reason);
  const next = (): Promise<IteratorResult<Uint8Array>> =>
    new Promise((resolve, reject) => {
      fail = reject;
      iterator.next().then(resolve, reject);
    });
  signal?.addEventListener("abort", abort, { once: true });
  let ended = false;
  try {
    for (;;) {
      const step = await next();
      if (step.done === true) {
        ended = true;
        return;
      }
      yield step.value;
      signal?.throwIfAborted();
    }
  } finally {
    signal?.removeEventListener("abort", abort);
    if (!ended) iterator.return?.().catch(() => {});
  }
}
