/** The number of tokens in a full token bucket and how quickly the bucket refills. */
export interface BucketSize {
  /** Number of tokens in a full bucket. */
  readonly capacity: number;
  /** Milliseconds until an empty bucket is full again. */
  readonly windowMs: number;
}

/**
 * The tokens of a token bucket at an instant, with fractions; below zero if more tokens were taken than the bucket had.
 */
export interface BucketLevel {
  readonly tokens: number;
  /** The instant for which this number of tokens holds, in milliseconds of a clock that never goes back. */
  readonly at: number;
}

/**
 * Returns the tokens of a token bucket at the instant `now`: the tokens of an earlier instant and the tokens refilled
 * since then.
 */
export function tokensAt({ tokens, at }: BucketLevel, size: BucketSize, now: number): number {
  const refilled = (Math.max(0, now - at) * size.capacity) / size.windowMs;
  return Math.min(size.capacity, tokens + refilled);
}

/** Returns the milliseconds until a token bucket that has `tokens` holds `wanted` tokens; 0 when it has them. */
export function msUntilTokens(tokens: number, wanted: number, size: BucketSize): number {
  return Math.max(0, ((wanted - tokens) * size.windowMs) / size.capacity);
}
