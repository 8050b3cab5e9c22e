import { networkOf } from "@postrider/shared/http/remote-network";
import { addCount } from "@postrider/shared/limits/add-count";
import { BoundedMap } from "@postrider/shared/limits/bounded-map";
import { createAddressLimits } from "#src/admission/address-limits.ts";
import type { AdmissionResult } from "#src/admission/admission-result.ts";
import type { AdmissionSource } from "#src/clients/admit-batches.ts";

const MAX_RECOGNISED_KEYS = 50_000;
/** After the accounts service last confirmed it. */
const RECOGNISED_MS = 24 * 60 * 60 * 1000;
/** Maximum number of requests of one remote address that wait for look-ups. */
const MAX_WAITING_PER_ADDRESS = 1_000;

type LookedUp = Pick<AdmissionSource, "keyHash" | "workspaceId">;

export interface LookUpWaiter {
  readonly address: string;
  /**
   * `recognised`: valid within the last day. `counted`: this request began the look-up. `repeated`:
   * an earlier one of the same address did.
   */
  readonly lookUp: "recognised" | "counted" | "repeated";
}

function idOf(keyHash: Uint8Array): string {
  return Buffer.from(keyHash).toString("base64");
}

function lookUpIdOf({ keyHash, workspaceId = "" }: LookedUp, address: string): string {
  return `${networkOf(address)} ${idOf(keyHash)} ${workspaceId}`;
}

/**
 * Limits look-ups of unknown keys. One counts from its beginning, so that an address cannot have
 * more in progress than its limit.
 */
export class KeyLookUps {
  readonly #limits = createAddressLimits();
  readonly #recognised = new BoundedMap<string, number>(MAX_RECOGNISED_KEYS);
  readonly #inProgress = new Set<string>();
  readonly #waiting = new Map<string, number>();

  /**
   * A recognised key is always looked up: another client of the address must not harm its owner.
   */
  refusalOf(source: LookedUp, address: string, now: number): AdmissionResult | undefined {
    if (this.#isRecognised(source)) return undefined;
    const isRepeated = this.#inProgress.has(lookUpIdOf(source, address));
    const mayBegin = isRepeated || this.#limits.hasLeft(address, now);
    if (mayBegin && this.#waitingOf(address) < MAX_WAITING_PER_ADDRESS) return undefined;
    return {
      kind: "rate_limited",
      workspaceId: undefined,
      retryAfterSeconds: this.#limits.retryAfterSeconds(address, now),
      limit: this.#limits.stateOf(address, now),
    };
  }

  /** For a request that was not refused. */
  begin(source: LookedUp, address: string, now: number): LookUpWaiter["lookUp"] {
    if (this.#isRecognised(source)) return "recognised";
    this.#addWaiting(address, 1);
    const id = lookUpIdOf(source, address);
    if (this.#inProgress.has(id)) return "repeated";
    this.#limits.takeOnCredit(address, now);
    this.#inProgress.add(id);
    return "counted";
  }

  noteValid(keyHash: Uint8Array, now: number): void {
    this.#recognised.set(idOf(keyHash), now + RECOGNISED_MS);
  }

  /** For one of its requests. Only an unknown key counts towards the limit of the address. */
  end(source: LookedUp, { address, lookUp }: LookUpWaiter, isUnknown: boolean, now: number): void {
    const isCounted = lookUp === "counted";
    if (lookUp !== "recognised") this.#addWaiting(address, -1);
    if (isCounted) this.#inProgress.delete(lookUpIdOf(source, address));
    if (isCounted && !isUnknown) this.#limits.giveBack(address, now);
    if (!isCounted && isUnknown) this.#limits.takeOnCredit(address, now);
  }

  sweep(now: number): void {
    this.#limits.sweep(now);
    this.#recognised.deleteOldestWhile((until) => until <= now);
  }

  #isRecognised({ keyHash }: LookedUp): boolean {
    return this.#recognised.get(idOf(keyHash)) !== undefined;
  }

  #waitingOf(address: string): number {
    return this.#waiting.get(networkOf(address)) ?? 0;
  }

  #addWaiting(address: string, change: 1 | -1): void {
    addCount(this.#waiting, networkOf(address), change);
  }
}
