import { networkOf } from "@postrider/shared/http/remote-network";
import { BoundedMap } from "@postrider/shared/limits/bounded-map";
import {
  type BucketLevel,
  type BucketSize,
  msUntilTokens,
  tokensAt,
} from "@postrider/shared/limits/token-bucket";
import { type RateLimitState, toRateLimitState, WINDOW_MS } from "#src/http/rate-limit.ts";

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

/** Failed authentications per minute and remote address, and at once. */
const FAILURES_PER_MINUTE = 120;
const MAX_ADDRESSES = 50_000;

/** All addresses of an IPv6 /64 network count as one. */
export interface AddressLimits {
  /** Returns false, and counts nothing, when the limit is used up. */
  take(address: string, now: number): boolean;
  hasLeft(address: string, now: number): boolean;
  takeOnCredit(address: string, now: number): void;
  /** For a request that does not count after all. */
  giveBack(address: string, now: number): void;
  stateOf(address: string, now: number): RateLimitState;
  retryAfterSeconds(address: string, now: number): number;
  sweep(now: number): void;
}

/** The limits hold in this process, for the 50,000 addresses that were counted last. */
export function createAddressLimits(quota = FAILURES_PER_MINUTE): AddressLimits {
  const size = { capacity: quota, windowMs: WINDOW_MS };
  const buckets = new KeyedBuckets({ ...size, maxKeys: MAX_ADDRESSES });
  const leftOf = (address: string, now: number) => buckets.tokensOf(networkOf(address), now);
  return {
    take: (address, now) => buckets.tryTake(networkOf(address), now),
    hasLeft: (address, now) => leftOf(address, now) >= 1,
    takeOnCredit: (address, now) => buckets.takeOnCredit(networkOf(address), now),
    giveBack: (address, now) => buckets.giveBack(networkOf(address), now),
    stateOf: (address, now) => toRateLimitState("address", quota, leftOf(address, now)),
    retryAfterSeconds: (address, now) =>
      Math.max(1, Math.ceil(msUntilTokens(leftOf(address, now), 1, size) / 1000)),
    sweep: (now) => buckets.sweep(now),
  };
}
