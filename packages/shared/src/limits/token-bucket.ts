/** How many tokens, and how quickly they come back. */
export interface BucketSize {
  readonly capacity: number;
  readonly windowMs: number;
}

/** With fractions; below zero if more tokens were taken than the bucket had. */
export interface BucketLevel {
  readonly tokens: number;
  /** In milliseconds of a clock that never goes back. */
  readonly at: number;
}

/** With the tokens refilled since the earlier instant. */
export function tokensAt({ tokens, at }: BucketLevel, size: BucketSize, now: number): number {
  const refilled = (Math.max(0, now - at) * size.capacity) / size.windowMs;
  return Math.min(size.capacity, tokens + refilled);
}

export function msUntilTokens(tokens: number, wanted: number, size: BucketSize): number {
  return Math.max(0, ((wanted - tokens) * size.windowMs) / size.capacity);
}
