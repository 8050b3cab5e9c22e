import type { Tokens } from "@postrider/platforms/authorization/connector";
import { appendAudit } from "@postrider/shared/audit/append";
import { appendEvents } from "@postrider/shared/outbox";
import { lockAccount, setAccountStatus } from "#src/db/accounts.ts";
import { writeRefreshedTokens, type RefreshClaim } from "#src/db/credential-refreshes.ts";
import { accountConnected } from "#src/events.ts";
import { toAccountAudit } from "#src/operations/audit-records.ts";
import type { Dependencies } from "#src/operations/dependencies.ts";
import { sealTokens } from "#src/operations/token-sealing.ts";

export interface RefreshedTokens {
  readonly claim: RefreshClaim;
  /** The version of the credential for which the refresh lease was taken. */
  readonly version: number;
  readonly tokens: Tokens;
}

/**
 * Encrypts and stores the tokens that a refresh of the current credential has returned. They are
 * also stored if another process used the old refresh token, which this refresh had replaced, and
 * the platform refused it: that process gave up the account, and storing the tokens makes it active
 * again.
 *
 * @returns False when the account was connected again, disconnected or marked for a reconnect for
 *   another reason.
 */
export async function storeRefreshedTokens(
  deps: Pick<Dependencies, "sql" | "nudge" | "credentialKeys">,
  { claim, version, tokens }: RefreshedTokens,
): Promise<boolean> {
  const { workspaceId, accountId, platform } = claim;
  const key = { workspaceId, accountId };
  const isStored = await deps.sql.begin(async (tx) => {
    const sealed = sealTokens(deps, claim, tokens);
    const refreshed = { ...sealed, issuedAt: claim.claimedAt };
    if (await writeRefreshedTokens(tx, key, refreshed, { version, isGivenUp: false })) return true;
    const account = await lockAccount(tx, key);
    if (account?.status !== "reconnect_required") return false;
    if (!(await writeRefreshedTokens(tx, key, refreshed, { version, isGivenUp: true })))
      return false;
    const change = await setAccountStatus(tx, key, "active");
    await appendEvents(tx, [accountConnected({ ...key, platform, ...change })]);
    const details = { platform, before: account.status, after: "active" };
    await appendAudit(tx, [toAccountAudit("account.reconnect", key, details)]);
    return true;
  });
  if (isStored) deps.nudge();
  return isStored;
}
