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
/**
 * How long an import request waits while another import request holds the claim on the same idempotency key. Afterwards the
 * request fails with `idempotency_conflict`.
 */
const WAIT_MS = 2000;
const POLL_INTERVAL_MS = 100;

/**
 * The request has claimed its idempotency key and carries out the import. Disposing of this object releases the claim.
 */
export interface HeldImport extends AsyncDisposable {
  readonly kind: "held";
}

/** An earlier import request with the same idempotency key has been answered with `response`. */
interface Replay {
  readonly kind: "replay";
  readonly response: Uint8Array;
}

/**
 * Claims the idempotency key of an import for this request, across all replicas, or finds the answer of an earlier
 * request with the key. A download takes too long for an open transaction, so the claim is a lease. If a request loses
 * its lease and two requests import, they still create one item of media, because the key can be stored only once.
 *
 * @throws `idempotency_conflict` when another request holds the claim for over 2 seconds, `idempotency_key_reused`.
 */
export async function claimOrReplay(sql: Sql, keyed: KeyedRequest): Promise<HeldImport | Replay> {
  const claim = { workspaceId: keyed.workspaceId, key: keyed.key, token: newId() };
  const endsAt = performance.now() + WAIT_MS;
  for (;;) {
    const isClaimed = await claimImport(sql, claim, LEASE_MS);
    try {
      // The stored answer is read after claiming, because the previous request stores its answer before it releases its
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
    // Losing the import claim is harmless, because the idempotency key can be stored only once.
    renewImportClaim(sql, claim, LEASE_MS).catch(() => undefined);
  }, LEASE_MS / 3);
  return {
    kind: "held",
    [Symbol.asyncDispose]: async () => {
      clearInterval(timer);
      // A failed release is ignored: the import has already ended, and the import claim expires by itself.
      await releaseImportClaim(sql, claim).catch(() => undefined);
    },
  };
}
