import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { AdmittedKey } from "@postrider/contracts/accounts/v1/admission_service_pb";
import { BoundedMap } from "@postrider/shared/limits/bounded-map";
import type { AdmissionSource } from "#src/clients/admit-batches.ts";

const MAX_KEYS = 10_000;
const MAX_UNKNOWN_KEYS = 10_000;

/** How long an answer is used before the accounts service is asked again. */
export const FRESH_MS = 2_000;
/** Without answers: 3 s more. A revoked API key stops working within 5 s in any case. */
export const USABLE_MS = 5_000;

export interface KnownKey {
  readonly id: string | undefined;
  readonly sessionId: string | undefined;
  readonly hash: Uint8Array;
  readonly scopes: ReadonlySet<string>;
  readonly workspaceIds: ReadonlySet<string>;
  readonly freshUntil: number;
  readonly usableUntil: number;
}

/** Undefined if the request has to name one, or names one that the key may not use. */
export function workspaceOf({ workspaceIds }: KnownKey, named: string | undefined) {
  if (named !== undefined) return workspaceIds.has(named) ? named : undefined;
  return workspaceIds.size === 1 ? [...workspaceIds][0] : undefined;
}

/** Bounded: a key has one entry, whatever workspaces its requests name. */
export class KnownKeys {
  readonly #keys = new BoundedMap<string, KnownKey>(MAX_KEYS);
  // Separate, so that a flood of invalid API keys does not evict a valid one.
  readonly #unknown = new BoundedMap<string, number>(MAX_UNKNOWN_KEYS);

  find(key: string): KnownKey | undefined {
    return this.#keys.get(key);
  }

  isUnknown(key: string, now: number): boolean {
    return (this.#unknown.get(key) ?? -Infinity) > now;
  }

  /** @param answer Undefined if the API key is not valid. */
  store({ key, keyHash }: AdmissionSource, answer: AdmittedKey | undefined, askedAt: number): void {
    if (answer === undefined) {
      this.#keys.delete(key);
      this.#unknown.set(key, askedAt + FRESH_MS);
      return;
    }
    const { id, sessionId, scopes, workspaceIds, expiresAt } = answer;
    // If the key has expired by the clock of the gateway, which may be wrong, the accounts service
    // decides by that of the database.
    const endsAt = expiresAt === undefined ? Infinity : timestampMs(expiresAt);
    const known = {
      id: id === "" ? undefined : id,
      sessionId,
      hash: keyHash,
      scopes: new Set(scopes),
      workspaceIds: new Set(workspaceIds),
      freshUntil: Math.min(askedAt + FRESH_MS, endsAt),
      usableUntil: Math.min(askedAt + USABLE_MS, endsAt),
    };
    // Answers may arrive out of order: the newest one stays.
    const before = this.#keys.get(key);
    if (before === undefined || before.freshUntil <= known.freshUntil) this.#keys.set(key, known);
  }

  sweep(now: number): void {
    this.#keys.deleteOldestWhile(({ usableUntil }) => usableUntil <= now);
    this.#unknown.deleteOldestWhile((until) => until <= now);
  }
}
