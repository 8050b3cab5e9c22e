import { type MinimumRate, watchRate } from "@postrider/shared/limits/minimum-rate";

/**
 * Throws the signal's reason as soon as it aborts, even if the source hangs. The source is asked to
 * end without waiting for it.
 */
export async function* abortable(
  bytes: AsyncIterable<Uint8Array>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array, void, undefined> {
  signal?.throwIfAborted();
  const iterator = bytes[Symbol.asyncIterator]();
  // `Promise.race` against one promise for the whole stream would leak memory for each chunk.
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

export class TooSlowError extends Error {
  constructor() {
    super("the bytes arrive below the minimum rate");
  }
}

/**
 * Throws `TooSlowError` when the source is slower than the rate. The time of the reader does not
 * count.
 */
export async function* atMinimumRate(
  bytes: AsyncIterable<Uint8Array>,
  rate: MinimumRate,
): AsyncGenerator<Uint8Array, void, undefined> {
  const tooSlow = new AbortController();
  let count = 0;
  let isReading = true;
  using _watch = watchRate({
    rate,
    countBytes: () => count,
    isExcused: () => !isReading,
    onTooSlow: () => tooSlow.abort(new TooSlowError()),
  });
  for await (const chunk of abortable(bytes, tooSlow.signal)) {
    count += chunk.length;
    isReading = false;
    yield chunk;
    isReading = true;
  }
}
