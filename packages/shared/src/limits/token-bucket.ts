/** How many tokens a bucket holds and how quickly it refills. */
export interface BucketSize {
  /** Tokens in a full bucket. */
  readonly capacity: number;
  /** How long an empty bucket takes to be full again, in milliseconds. */
  readonly windowMs: number;
}

/** The tokens of a bucket at an instant, with fractions; below zero after a take on credit. */
export interface BucketLevel {
  readonly tokens: number;
  /** Milliseconds on a clock that never goes back. */
  readonly at: number;
}

/** The tokens of a bucket at the instant `now`: the tokens of an earlier instant and the tokens refilled since then. */
export function tokensAt({ tokens, at }: BucketLevel, size: BucketSize, now: number): number {
  const refilled = (Math.max(0, now - at) * size.capacity) / size.windowMs;
  return Math.min(size.capacity, tokens + refilled);
}

/** Milliseconds until a bucket with `tokens` has `wanted` tokens; 0 when it has them. */
export function msUntilTokens(tokens: number, wanted: number, size: BucketSize): number {
  return Math.max(0, ((wanted - tokens) * size.windowMs) / size.capacity);
}
