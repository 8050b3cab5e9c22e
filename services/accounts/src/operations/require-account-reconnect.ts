import { appendAudit } from "@postrider/shared/audit/append";
import { notFound } from "@postrider/shared/errors";
import { appendEvents } from "@postrider/shared/outbox";
import type { TransactionSql } from "@postrider/shared/postgres";
import { lockAccount, setAccountStatus, type AccountKey } from "#src/db/accounts.ts";
import { giveUpCredential, type RefreshClaim } from "#src/db/credential-refreshes.ts";
import { invalidateCredential } from "#src/db/credentials.ts";
import { accountReconnectRequired } from "#src/events.ts";
import { toAccountAudit } from "#src/operations/audit-records.ts";
import type { Dependencies } from "#src/operations/dependencies.ts";

type Deps = Pick<Dependencies, "sql" | "nudge">;

/**
 * Marks an active account as `reconnect_required` if `invalidate` has changed its credential.
 *
 * @returns Whether the account was marked.
 * @throws ServiceError `not_found` when the workspace does not have the account.
 */
async function markAccount(
  { sql, nudge }: Deps,
  key: AccountKey,
  invalidate: (tx: TransactionSql) => Promise<boolean>,
): Promise<boolean> {
  const isMarked = await sql.begin(async (tx) => {
    const account = await lockAccount(tx, key);
    if (account === undefined) throw notFound();
    if (account.status !== "active" || !(await invalidate(tx))) return false;
    const change = await setAccountStatus(tx, key, "reconnect_required");
    await appendEvents(tx, [
      accountReconnectRequired({ ...key, platform: account.platform, ...change }),
    ]);
    const { platform, status: before } = account;
    const details = { platform, before, after: "reconnect_required" };
    await appendAudit(tx, [toAccountAudit("account.require_reconnect", key, details)]);
    return true;
  });
  nudge();
  return isMarked;
}

/**
 * Marks an active account as `reconnect_required` after its platform has permanently refused its
 * tokens. The account stays active if its stored credential is newer than the refused version.
 *
 * @throws ServiceError `not_found` when the workspace does not have the account.
 */
export async function requireAccountReconnect(
  deps: Deps,
  key: AccountKey,
  credentialVersion: number,
): Promise<void> {
  await markAccount(deps, key, (tx) => invalidateCredential(tx, key, credentialVersion));
}

/**
 * Marks an active account as `reconnect_required` after its platform has refused a token refresh.
 * If another process later stores new tokens for the refused version of the credential, the account
 * becomes active again.
 *
 * @returns False when another process has taken over the refresh lease; the account then stays
 *   active.
 */
export async function giveUpAfterRefresh(
  deps: Deps,
  key: AccountKey,
  claim: RefreshClaim,
): Promise<boolean> {
  return await markAccount(deps, key, (tx) => giveUpCredential(tx, key, claim));
}
