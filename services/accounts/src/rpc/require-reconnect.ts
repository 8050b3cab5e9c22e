import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  RequireReconnectRequest,
  RequireReconnectResponseSchema,
} from "@postrider/contracts/accounts/v1/account_service_pb";
import { notFound } from "@postrider/shared/errors";
import { appendEvents } from "@postrider/shared/outbox";
import { lockAccount, setReconnectRequired, type AccountKey } from "#src/db/accounts.ts";
import { giveUpCredential } from "#src/db/credentials.ts";
import { accountReconnectRequired } from "#src/events.ts";
import { toAccountKey } from "./to-account-key.ts";
import type { Deps } from "#src/operations/dependencies.ts";

/**
 * Marks an active account whose credential of that version, or an older one, was refused for good; anything newer stays
 * as it is.
 *
 * @throws ServiceError `not_found`
 */
export async function markReconnectRequired(
  { sql, nudge }: Pick<Deps, "sql" | "nudge">,
  key: AccountKey,
  credentialVersion: number,
): Promise<void> {
  await sql.begin(async (tx) => {
    const account = await lockAccount(tx, key);
    if (account === undefined) throw notFound();
    if (account.status !== "active") return;
    if (!(await giveUpCredential(tx, key, credentialVersion))) return;
    const change = await setReconnectRequired(tx, key);
    if (change === undefined) return;
    await appendEvents(tx, [
      accountReconnectRequired({ ...key, platform: account.platform, ...change }),
    ]);
  });
  nudge();
}

export async function requireReconnect(
  deps: Pick<Deps, "sql" | "nudge">,
  request: RequireReconnectRequest,
): Promise<MessageInitShape<typeof RequireReconnectResponseSchema>> {
  const key = toAccountKey(request.ref);
  if (key === undefined) throw notFound();
  await markReconnectRequired(deps, key, Number(request.credentialVersion));
  return {};
}
