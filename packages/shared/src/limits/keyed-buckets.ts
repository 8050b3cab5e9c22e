import { BoundedMap } from "#src/limits/bounded-map.ts";
import {
  msUntilTokens,
  tokensAt,
  type BucketLevel,
  type BucketSize,
} from "#src/limits/token-bucket.ts";

interface KeyedBucketsOptions extends BucketSize {
  /**
   * Maximum number of keys with a stored token bucket. Beyond it, the bucket of the least recently used key is dropped,
   * so that this key has a full bucket again.
   */
  readonly maxKeys: number;
}

/** A token bucket for each key, in the memory of this process. Every call takes the time in milliseconds. */
export class KeyedBuckets {
  readonly #size: BucketSize;
  /** Stored token buckets. A key without an entry has a full bucket. */
  readonly #levels: BoundedMap<string, BucketLevel>;

  constructor({ capacity, windowMs, maxKeys }: KeyedBucketsOptions) {
    this.#size = { capacity, windowMs };
    this.#levels = new BoundedMap(maxKeys);
  }

  /**
   * Returns the tokens in the bucket of the key, with fractions; below zero if more tokens were taken than the bucket
   * had.
   */
  tokensOf(key: string, now: number): number {
    const level = this.#levels.get(key);
    return level === undefined ? this.#size.capacity : tokensAt(level, this.#size, now);
  }

  /**
   * Takes a token from the bucket of the key. Returns false, and takes nothing, when the bucket has less than one
   * token.
   */
  tryTake(key: string, now: number): boolean {
    const isThere = this.tokensOf(key, now) >= 1;
    if (isThere) this.takeOnCredit(key, now);
    return isThere;
  }

  /**
   * Takes a token from the bucket of the key even if the bucket is empty. Use it for a request that was served before
   * it was known to count.
   */
  takeOnCredit(key: string, now: number): void {
    this.#levels.set(key, { tokens: this.tokensOf(key, now) - 1, at: now });
  }

  /**
   * Returns a token to the bucket of the key, for a request that does not count after all. A bucket never holds more
   * than its capacity.
   */
  giveBack(key: string, now: number): void {
    const tokens = Math.min(this.#size.capacity, this.tokensOf(key, now) + 1);
    this.#levels.set(key, { tokens, at: now });
  }

  /** Forgets keys whose token bucket is full again. */
  sweep(now: number): void {
    this.#levels.deleteOldestWhile(
      ({ tokens, at }) => at + msUntilTokens(tokens, this.#size.capacity, this.#size) <= now,
    );
  }
}
