import { notFound } from "@postrider/shared/errors";
import { appendEvents } from "@postrider/shared/outbox";
import { lockAccount, setAccountStatus, type AccountKey } from "#src/db/accounts.ts";
import { invalidateCredential } from "#src/db/credentials.ts";
import { accountReconnectRequired } from "#src/events.ts";
import type { Dependencies } from "#src/operations/dependencies.ts";

/**
 * Marks an active account as `reconnect_required` after its platform has permanently refused its tokens. The account
 * stays active if its stored credential is newer than the refused version.
 *
 * @throws ServiceError `not_found` when the workspace does not have the account.
 */
export async function requireAccountReconnect(
  { sql, nudge }: Pick<Dependencies, "sql" | "nudge">,
  key: AccountKey,
  credentialVersion: number,
): Promise<void> {
  await sql.begin(async (tx) => {
    const account = await lockAccount(tx, key);
    if (account === undefined) throw notFound();
    if (account.status !== "active") return;
    if (!(await invalidateCredential(tx, key, credentialVersion))) return;
    const change = await setAccountStatus(tx, key, "reconnect_required");
    await appendEvents(tx, [
      accountReconnectRequired({ ...key, platform: account.platform, ...change }),
    ]);
  });
  nudge();
}
