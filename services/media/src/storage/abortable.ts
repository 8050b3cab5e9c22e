/**
 * The same bytes, which end with the signal's reason as soon as it is given, also while the source keeps us waiting.
 * Breaking off asks the source to end too, but does not wait for it: one that hangs would hang us.
 */
export async function* abortable(
  bytes: AsyncIterable<Uint8Array>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array, void, undefined> {
  signal?.throwIfAborted();
  const iterator = bytes[Symbol.asyncIterator]();
  // A race against one lasting promise would keep a reaction for each chunk until the end.
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
