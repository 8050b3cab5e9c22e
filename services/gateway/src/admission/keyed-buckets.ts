import { BoundedMap } from "@postrider/shared/limits/bounded-map";
import {
  msUntilTokens,
  tokensAt,
  type BucketLevel,
  type BucketSize,
} from "@postrider/shared/limits/token-bucket";

interface KeyedBucketsOptions extends BucketSize {
  /** Beyond it, the least recently used key has a full bucket again. */
  readonly maxKeys: number;
}

/** In the memory of this process. Every call takes the time in milliseconds. */
export class KeyedBuckets {
  readonly #size: BucketSize;
  readonly #levels: BoundedMap<string, BucketLevel>;

  constructor({ capacity, windowMs, maxKeys }: KeyedBucketsOptions) {
    this.#size = { capacity, windowMs };
    this.#levels = new BoundedMap(maxKeys);
  }

  /** With fractions; below zero if more tokens were taken than the bucket had. */
  tokensOf(key: string, now: number): number {
    const level = this.#levels.get(key);
    return level === undefined ? this.#size.capacity : tokensAt(level, this.#size, now);
  }

  /** False when the bucket has less than one token; then nothing is taken. */
  tryTake(key: string, now: number): boolean {
    const isThere = this.tokensOf(key, now) >= 1;
    if (isThere) this.takeOnCredit(key, now);
    return isThere;
  }

  /** For a request that was served before it was known to count. */
  takeOnCredit(key: string, now: number): void {
    this.#levels.set(key, { tokens: this.tokensOf(key, now) - 1, at: now });
  }

  /** For a request that does not count after all. */
  giveBack(key: string, now: number): void {
    const tokens = Math.min(this.#size.capacity, this.tokensOf(key, now) + 1);
    this.#levels.set(key, { tokens, at: now });
  }

  sweep(now: number): void {
    this.#levels.deleteOldestWhile(
      ({ tokens, at }) => at + msUntilTokens(tokens, this.#size.capacity, this.#size) <= now,
    );
  }
}
