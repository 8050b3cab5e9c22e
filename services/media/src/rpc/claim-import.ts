import { setTimeout as sleep } from "node:timers/promises";
import { newId } from "@postrider/shared/ids";
import type { Sql } from "@postrider/shared/postgres";
import {
  findReplay,
  keyInProgress,
  type KeyedRequest,
} from "@postrider/shared/postgres/idempotency";
import { claimImport, releaseImportClaim, renewImportClaim } from "#src/db/import-claims.ts";

const LEASE_MS = 5000;
const WAIT_MS = 2000;
const POLL_MS = 100;

/** Held while an import is carried out. */
export interface HeldImport extends AsyncDisposable {
  readonly kind: "held";
}

/** What an earlier request with the key was answered. */
interface Replay {
  readonly kind: "replay";
  readonly response: Uint8Array;
}

/**
 * Makes this the only request that carries out the import of its key, on any replica, or finds what an earlier one was
 * answered. A download takes too long to hold a transaction open, so this is a lease: whoever loses it downloads in vain,
 * because the key goes to one transaction.
 *
 * @throws `idempotency_conflict` when another request takes longer than 2 seconds, `idempotency_key_reused`.
 */
export async function claimOrReplay(sql: Sql, keyed: KeyedRequest): Promise<HeldImport | Replay> {
  const claim = { workspaceId: keyed.workspaceId, key: keyed.key, token: newId() };
  const endsAt = performance.now() + WAIT_MS;
  for (;;) {
    const isClaimed = await claimImport(sql, claim, LEASE_MS);
    try {
      // After the claim: who had it before has stored its answer by now, if it has one.
      const response = await findReplay(sql, keyed);
      if (isClaimed && response === undefined) return hold(sql, claim);
      if (isClaimed) await releaseImportClaim(sql, claim);
      if (response !== undefined) return { kind: "replay", response };
    } catch (error) {
      if (isClaimed) await releaseImportClaim(sql, claim);
      throw error;
    }
    if (performance.now() >= endsAt) throw keyInProgress();
    await sleep(POLL_MS);
  }
}

function hold(sql: Sql, claim: Parameters<typeof claimImport>[1]): HeldImport {
  const timer = setInterval(() => {
    // The database may be back before the lease ends; the last word is the transaction's.
    renewImportClaim(sql, claim, LEASE_MS).catch(() => undefined);
  }, LEASE_MS / 3);
  return {
    kind: "held",
    [Symbol.asyncDispose]: async () => {
      clearInterval(timer);
      // What was imported stays imported: without a release the lease ends by itself.
      await releaseImportClaim(sql, claim).catch(() => undefined);
    },
  };
}
