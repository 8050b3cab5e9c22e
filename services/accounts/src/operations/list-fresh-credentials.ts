import { setTimeout as sleep } from "node:timers/promises";
import { Semaphore } from "@postrider/shared/limits/semaphore";
import type { AccountKey } from "#src/db/accounts.ts";
import { listCredentials, type CredentialRow } from "#src/db/credentials.ts";
import type { Dependencies } from "#src/operations/dependencies.ts";

type RefreshDependencies = Pick<Dependencies, "sql" | "logger" | "refreshTokens">;

const MAX_CONCURRENT_REFRESHES = 16;
/**
 * Maximum time that a batch of credentials waits for the refresh of expired tokens. A batch does
 * not wait for the refresh of tokens that are still valid.
 */
const MAX_REFRESH_WAIT_MS = 3_000;

/** Waits until all refreshes have ended. Failures are logged, not thrown. */
async function refreshAll(
  deps: RefreshDependencies,
  rows: readonly CredentialRow[],
): Promise<void> {
  const refreshes = new Semaphore({ total: MAX_CONCURRENT_REFRESHES, maxWaiting: Infinity });
  const refresh = async (row: CredentialRow): Promise<void> => {
    try {
      await deps.refreshTokens(row);
    } catch (error) {
      deps.logger.error(
        { err: error, accountId: row.accountId },
        "the token of an account could not be refreshed; the next use of the account tries again",
      );
    }
  };
  await Promise.all(rows.map((row) => refreshes.run(() => refresh(row))));
}

function isDue(row: CredentialRow): boolean {
  return row.accountStatus === "active" && row.canRefresh && row.isPastHalfLife;
}

/**
 * Reads the credentials of accounts. Tokens that have expired are refreshed first, for at most 3
 * seconds; tokens of which half of the lifetime has passed are refreshed in the background.
 */
export async function listFreshCredentials(
  deps: RefreshDependencies,
  keys: readonly AccountKey[],
): Promise<readonly CredentialRow[]> {
  const rows = await listCredentials(deps.sql, keys);
  const { expired = [], working = [] } = Object.groupBy(rows.filter(isDue), (row) =>
    row.isExpired ? "expired" : "working",
  );
  // The refresh of tokens that are still valid is not waited for. This call returns these tokens,
  // and later calls return the new ones.
  if (working.length > 0) void refreshAll(deps, working);
  if (expired.length === 0) return rows;
  const timeout = sleep(MAX_REFRESH_WAIT_MS, undefined, { ref: false });
  await Promise.race([refreshAll(deps, expired), timeout]);
  return await listCredentials(deps.sql, keys);
}
