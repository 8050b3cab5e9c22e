import { networkOf } from "@postrider/shared/http/remote-network";
import { BoundedMap } from "@postrider/shared/limits/bounded-map";
import type { AdmissionSource } from "#src/clients/admit-batches.ts";
import {
  type AddressLimits,
  createAddressLimits,
} from "#src/operations/admission/address-limits.ts";
import type { AdmissionResult } from "#src/operations/admission/admission-result.ts";

const MAX_RECOGNISED_KEYS = 50_000;
/** How long a valid API key stays recognised after the accounts service last confirmed it. */
const RECOGNISED_MS = 24 * 60 * 60 * 1000;

/**
 * Maximum number of requests of one remote address that wait for look-ups of API keys that are not recognised. Further
 * requests of this address with such API keys are refused.
 */
const MAX_WAITING_PER_ADDRESS = 1_000;

type LookedUp = Pick<AdmissionSource, "keyHash" | "workspaceId">;

/** A request that waits for the look-up of its API key. */
export interface LookUpWaiter {
  readonly address: string;
  /**
   * `recognised`: the API key was valid within the last day. `counted`: this request began the look-up of the API key,
   * which counts towards the limit of its remote address. `repeated`: an earlier request of the same address began this
   * look-up.
   */
  readonly lookUp: "recognised" | "counted" | "repeated";
}

/**
 * Limits how many API keys that turn out to be unknown a remote address can make the gateway look up. A look-up counts
 * from its beginning, so that an address cannot have more look-ups in progress than its limit allows.
 */
export interface KeyLookUps {
  /**
   * Refuses to look up an API key for a remote address that has sent too many unknown API keys. An API key that was
   * valid within the last day is always looked up, so its owner is not harmed by another client of the same address.
   */
  refusalOf(source: LookedUp, address: string, now: number): AdmissionResult | undefined;
  /**
   * Begins the look-up of an API key for a request that was not refused. Counts the look-up towards the limit of the
   * remote address, unless the API key is recognised or the address already has this look-up in progress.
   */
  begin(source: LookedUp, address: string, now: number): LookUpWaiter["lookUp"];
  /** Remembers an API key that the accounts service has just confirmed. */
  noteValid(keyHash: Uint8Array, now: number): void;
  /**
   * Ends the look-up of an API key for one of the requests that wait for it. If the API key turned out to be unknown,
   * this request counts towards the limit of its remote address; otherwise it does not.
   */
  end(source: LookedUp, waiter: LookUpWaiter, isUnknown: boolean, now: number): void;
  sweep(now: number): void;
}

function idOf(keyHash: Uint8Array): string {
  return Buffer.from(keyHash).toString("base64");
}

function lookUpIdOf({ keyHash, workspaceId = "" }: LookedUp, address: string): string {
  return `${networkOf(address)} ${idOf(keyHash)} ${workspaceId}`;
}

export function createKeyLookUps(limits: AddressLimits = createAddressLimits()): KeyLookUps {
  const recognised = new BoundedMap<string, number>(MAX_RECOGNISED_KEYS);
  const inProgress = new Set<string>();
  const waiting = new Map<string, number>();
  const isRecognised = ({ keyHash }: LookedUp) => recognised.get(idOf(keyHash)) !== undefined;
  const waitingOf = (address: string) => waiting.get(networkOf(address)) ?? 0;
  const setWaiting = (address: string, count: number): void => {
    if (count > 0) waiting.set(networkOf(address), count);
    else waiting.delete(networkOf(address));
  };
  return {
    refusalOf: (source, address, now) => {
      if (isRecognised(source)) return undefined;
      const mayBegin = limits.hasLeft(address, now) || inProgress.has(lookUpIdOf(source, address));
      if (mayBegin && waitingOf(address) < MAX_WAITING_PER_ADDRESS) return undefined;
      return {
        kind: "rate_limited",
        workspaceId: undefined,
        retryAfterSeconds: limits.retryAfterSeconds(address, now),
        limit: limits.stateOf(address, now),
      };
    },
    begin: (source, address, now) => {
      if (isRecognised(source)) return "recognised";
      setWaiting(address, waitingOf(address) + 1);
      const id = lookUpIdOf(source, address);
      if (inProgress.has(id)) return "repeated";
      limits.takeOnCredit(address, now);
      inProgress.add(id);
      return "counted";
    },
    noteValid: (keyHash, now) => recognised.set(idOf(keyHash), now + RECOGNISED_MS),
    end: (source, { address, lookUp }, isUnknown, now) => {
      const isCounted = lookUp === "counted";
      if (lookUp !== "recognised") setWaiting(address, waitingOf(address) - 1);
      if (isCounted) inProgress.delete(lookUpIdOf(source, address));
      if (isCounted && !isUnknown) limits.giveBack(address, now);
      if (!isCounted && isUnknown) limits.takeOnCredit(address, now);
    },
    sweep: (now) => {
      limits.sweep(now);
      recognised.deleteOldestWhile((until) => until <= now);
    },
  };
}
