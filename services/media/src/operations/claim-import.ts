import { setTimeout as sleep } from "node:timers/promises";
import { newId } from "@postrider/shared/ids";
import type { Sql } from "@postrider/shared/postgres";
import {
  findReplay,
  keyInProgress,
  type KeyedRequest,
} from "@postrider/shared/postgres/idempotency";
import {
  claimImport,
  releaseImportClaim,
  renewImportClaim,
  type ImportClaim,
} from "#src/db/import-claims.ts";

const LEASE_MS = 5000;
/** Then the request fails with `idempotency_conflict`. */
const WAIT_MS = 2000;
const POLL_INTERVAL_MS = 100;

/** Disposing of it releases the claim. */
export interface HeldImport extends AsyncDisposable {
  readonly kind: "held";
}

/** The answer of an earlier request with the same key. */
interface Replay {
  readonly kind: "replay";
  readonly response: Uint8Array;
}

/**
 * Claims the idempotency key across all replicas, or finds the answer of an earlier request. A
 * download takes too long for an open transaction, so the claim is a lease; if two requests import
 * after one lost it, they still create one item of media, because the key can be stored only once.
 *
 * @throws `idempotency_conflict`, `idempotency_key_reused`
 */
export async function claimOrReplay(sql: Sql, keyed: KeyedRequest): Promise<HeldImport | Replay> {
  const claim = { workspaceId: keyed.workspaceId, key: keyed.key, token: newId() };
  const endsAt = performance.now() + WAIT_MS;
  for (;;) {
    const isClaimed = await claimImport(sql, claim, LEASE_MS);
    try {
      // Read after claiming, because the previous request stores its answer before it releases its
      // claim.
      const response = await findReplay(sql, keyed);
      if (isClaimed && response === undefined) return holdClaim(sql, claim);
      if (isClaimed) await releaseImportClaim(sql, claim);
      if (response !== undefined) return { kind: "replay", response };
    } catch (error) {
      if (isClaimed) await releaseImportClaim(sql, claim);
      throw error;
    }
    if (performance.now() >= endsAt) throw keyInProgress();
    await sleep(POLL_INTERVAL_MS);
  }
}

function holdClaim(sql: Sql, claim: ImportClaim): HeldImport {
  const timer = setInterval(() => {
    // Harmless, because the key can be stored only once.
    renewImportClaim(sql, claim, LEASE_MS).catch(() => undefined);
  }, LEASE_MS / 3);
  return {
    kind: "held",
    [Symbol.asyncDispose]: async () => {
      clearInterval(timer);
      // The import has already ended, and the claim expires by itself.
      await releaseImportClaim(sql, claim).catch(() => undefined);
    },
  };
}
