import { type MinimumRate, watchRate } from "@postrider/shared/limits/minimum-rate";
import { abortable } from "#src/storage/abortable.ts";

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
