import { BoundedMap } from "@postrider/shared/limits/bounded-map";
import type { AddressLimits } from "#src/operations/admission/address-limits.ts";
import { createAddressLimits } from "#src/operations/admission/address-limits.ts";
import type { AdmissionResult } from "#src/operations/admission/admission-result.ts";

const MAX_RECOGNISED_KEYS = 50_000;
/** How long a valid API key stays recognised after the accounts service last confirmed it. */
const RECOGNISED_MS = 24 * 60 * 60 * 1000;

/** Limits how many API keys that turn out to be unknown a remote address can make the gateway look up. */
export interface KeyLookUps {
  /**
   * Refuses to look up an API key for a remote address that has sent too many unknown API keys. An API key that was
   * valid within the last day is always looked up, so its owner is not harmed by another client of the same address.
   */
  refusalOf(keyHash: Uint8Array, address: string, now: number): AdmissionResult | undefined;
  /** Remembers an API key that the accounts service has just confirmed. */
  noteValid(keyHash: Uint8Array, now: number): void;
  /** Counts a look-up of an API key that the accounts service does not know. */
  noteUnknown(address: string, now: number): void;
  sweep(now: number): void;
}

function idOf(keyHash: Uint8Array): string {
  return Buffer.from(keyHash).toString("base64");
}

export function createKeyLookUps(limits: AddressLimits = createAddressLimits()): KeyLookUps {
  const recognised = new BoundedMap<string, number>(MAX_RECOGNISED_KEYS);
  return {
    refusalOf: (keyHash, address, now) => {
      if (limits.hasLeft(address, now) || recognised.get(idOf(keyHash)) !== undefined)
        return undefined;
      return {
        kind: "rate_limited",
        workspaceId: undefined,
        retryAfterSeconds: limits.retryAfterSeconds(address, now),
        limit: limits.stateOf(address, now),
      };
    },
    noteValid: (keyHash, now) => recognised.set(idOf(keyHash), now + RECOGNISED_MS),
    noteUnknown: (address, now) => limits.takeOnCredit(address, now),
    sweep: (now) => {
      limits.sweep(now);
      recognised.deleteOldestWhile((until) => until <= now);
    },
  };
}
