import { networkOf } from "@postrider/shared/http/remote-network";
import { dropOldest, putYoungest } from "#src/clients/admission/bounded-map.ts";
import type { RateLimitState } from "#src/domain/admission.ts";

/** Failed authentications a minute, and at once, of one remote address. */
const FAILURES_A_MINUTE = 120;
const WINDOW_MS = 60_000;
const MAX_ADDRESSES = 50_000;

interface Bucket {
  /** Below zero after charges for more than there was. */
  readonly left: number;
  readonly at: number;
}

/** What each remote address may do in a minute, and at once; all addresses of an IPv6 network are one. */
export interface AddressBudgets {
  /** Takes one from the address. False when it has had too many; nothing is taken then. */
  take(address: string, now: number): boolean;
  /** Whether one could be taken. */
  has(address: string, now: number): boolean;
  /** Takes one that has been used already, if need be on credit: what many did at the same time is waited for afterwards. */
  charge(address: string, now: number): void;
  stateOf(address: string, now: number): RateLimitState;
  /** Seconds, at least 1, after which one can be taken again. */
  retryAfterSeconds(address: string, now: number): number;
  /** Forgets addresses whose budget is whole again. */
  sweep(now: number): void;
}

/** Counts per remote address, in this process only. At most 50,000 addresses are remembered, the youngest. */
export function createAddressBudgets(quota = FAILURES_A_MINUTE): AddressBudgets {
  // Youngest use last. Addresses that are not here have their whole budget.
  const buckets = new Map<string, Bucket>();
  const leftOf = (network: string, now: number): number => {
    const bucket = buckets.get(network);
    if (bucket === undefined) return quota;
    return Math.min(quota, bucket.left + ((now - bucket.at) * quota) / WINDOW_MS);
  };
  const has = (address: string, now: number): boolean => leftOf(networkOf(address), now) >= 1;
  const charge = (address: string, now: number): void => {
    const network = networkOf(address);
    putYoungest(buckets, network, { left: leftOf(network, now) - 1, at: now }, MAX_ADDRESSES);
  };
  return {
    has,
    charge,
    take: (address, now) => {
      const isLeft = has(address, now);
      if (isLeft) charge(address, now);
      return isLeft;
    },
    stateOf: (address, now) => {
      const left = leftOf(networkOf(address), now);
      return {
        policy: "address",
        quota,
        windowSeconds: 60,
        remaining: Math.max(0, Math.floor(left)),
        resetSeconds: Math.ceil(((quota - left) * 60) / quota),
      };
    },
    retryAfterSeconds: (address, now) =>
      Math.max(1, Math.ceil(((1 - leftOf(networkOf(address), now)) * 60) / quota)),
    sweep: (now) => {
      const isWhole = ({ left, at }: Bucket) => at + ((quota - left) * WINDOW_MS) / quota <= now;
      dropOldest(buckets, isWhole);
    },
  };
}
