import { dropOldest, putYoungest } from "#src/clients/admission/bounded-map.ts";
import type { RateLimitState } from "#src/domain/admission.ts";

/** Failed authentications a minute, and at once, of one remote address. */
const QUOTA = 120;
const WINDOW_MS = 60_000;
const MAX_ADDRESSES = 50_000;

interface Bucket {
  readonly left: number;
  readonly at: number;
}

export interface AddressBudgets {
  /** Takes one failure from the address. False when it has had too many; nothing is taken then. */
  takeFailure(address: string, now: number): boolean;
  stateOf(address: string, now: number): RateLimitState;
  /** Seconds, at least 1, after which the next failure is answered as one. */
  retryAfterSeconds(address: string, now: number): number;
  /** Forgets addresses whose budget is whole again. */
  sweep(now: number): void;
}

/** Counts failed authentications per remote address, in this process only. */
export function createAddressBudgets(): AddressBudgets {
  // Youngest failure last. Addresses that are not here have their whole budget.
  const buckets = new Map<string, Bucket>();
  const leftOf = (address: string, now: number): number => {
    const bucket = buckets.get(address);
    if (bucket === undefined) return QUOTA;
    return Math.min(QUOTA, bucket.left + ((now - bucket.at) * QUOTA) / WINDOW_MS);
  };
  return {
    takeFailure: (address, now) => {
      const left = leftOf(address, now);
      if (left < 1) return false;
      putYoungest(buckets, address, { left: left - 1, at: now }, MAX_ADDRESSES);
      return true;
    },
    stateOf: (address, now) => {
      const left = leftOf(address, now);
      return {
        policy: "address",
        quota: QUOTA,
        windowSeconds: 60,
        remaining: Math.floor(left),
        resetSeconds: Math.ceil(((QUOTA - left) * 60) / QUOTA),
      };
    },
    retryAfterSeconds: (address, now) =>
      Math.max(1, Math.ceil(((1 - leftOf(address, now)) * 60) / QUOTA)),
    sweep: (now) => dropOldest(buckets, (bucket) => bucket.at + WINDOW_MS <= now),
  };
}
