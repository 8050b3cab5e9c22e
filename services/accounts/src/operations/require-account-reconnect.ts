import { appendAudit } from "@postrider/shared/audit/append";
import { notFound } from "@postrider/shared/errors";
import { appendEvents } from "@postrider/shared/outbox";
import type { TransactionSql } from "@postrider/shared/postgres";
import { SealError } from "@postrider/shared/secrets/sealing";
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

/**
 * Ends the use of a stored token that could not be decrypted: nothing is sent to the platform. A
 * token that was altered, or whose account was, makes the account need a reconnect; if only the key
 * is missing, other replicas may have it, and nothing changes.
 *
 * @throws `error` if it is not a `SealError`.
 */
export async function endUnusableToken(
  deps: Deps & Pick<Dependencies, "logger">,
  credential: AccountKey & { readonly version: number },
  error: unknown,
): Promise<"reconnect_required" | "missing_key"> {
  if (!(error instanceof SealError)) throw error;
  const { accountId, version } = credential;
  const log = { err: error, accountId };
  if (!error.isBroken) {
    deps.logger.error(
      log,
      "a stored token cannot be decrypted because its key is missing; add the key to CREDENTIAL_KEYS of this process",
    );
    return "missing_key";
  }
  deps.logger.error(
    log,
    "a stored token cannot be decrypted because it or its account was altered in the database; connect the account again",
  );
  await requireAccountReconnect(deps, credential, version);
  return "reconnect_required";
}
