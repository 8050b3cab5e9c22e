import { appendAudit } from "@postrider/shared/audit/append";
import { appendEvents } from "@postrider/shared/outbox";
import { lockAccount, setAccountStatus } from "#src/db/accounts.ts";
import { writeRefreshedTokens } from "#src/db/credential-refreshes.ts";
import type { SealedCredential } from "#src/db/credentials.ts";
import { accountConnected } from "#src/events.ts";
import { toAccountAudit } from "#src/operations/account-audit.ts";
import type { CurrentCredential, Dependencies } from "#src/operations/dependencies.ts";

/**
 * Stores the tokens that a refresh of the current credential has returned. They are also stored if another process used the old
 * refresh token, which this refresh had replaced, and the platform refused it: that process gave up the account, and storing
 * the tokens makes it active again.
 *
 * @returns False when the account was connected again, disconnected or marked for a reconnect for another reason.
 */
export async function storeRefreshedTokens(
  { sql, nudge }: Pick<Dependencies, "sql" | "nudge">,
  current: CurrentCredential,
  refreshed: SealedCredential & { readonly issuedAt: Date },
): Promise<boolean> {
  const { workspaceId, accountId, platform, version } = current;
  const key = { workspaceId, accountId };
  if (await writeRefreshedTokens(sql, key, refreshed, { version, isGivenUp: false })) return true;
  const isStored = await sql.begin(async (tx) => {
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
  if (isStored) nudge();
  return isStored;
}
