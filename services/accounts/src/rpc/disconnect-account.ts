import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  DisconnectAccountRequest,
  DisconnectAccountResponseSchema,
} from "@postrider/contracts/accounts/v1/account_service_pb";
import { notFound } from "@postrider/shared/errors";
import { appendEvents } from "@postrider/shared/outbox";
import { lockAccount, setDisconnected, type AccountKey } from "#src/db/accounts.ts";
import { destroyTokens, type DestroyedTokens } from "#src/db/credentials.ts";
import { accountDisconnected } from "#src/events.ts";
import { toAccountKey } from "./to-account-key.ts";
import type { Deps } from "#src/operations/dependencies.ts";
import { revokeTokens } from "#src/operations/revoke-tokens.ts";

interface Disconnected {
  readonly platform: string;
  /** Undefined when there was nothing to destroy any more. */
  readonly tokens: DestroyedTokens | undefined;
}

/** The local part: one transaction, after which nobody here can act for the account. */
async function disconnect(
  { sql, nudge }: Pick<Deps, "sql" | "nudge">,
  key: AccountKey,
): Promise<Disconnected> {
  const disconnected = await sql.begin(async (tx) => {
    const account = await lockAccount(tx, key);
    if (account === undefined) throw notFound();
    const { platform, status } = account;
    if (status === "disconnected") return { platform, tokens: undefined };
    const tokens = await destroyTokens(tx, key);
    const change = await setDisconnected(tx, key);
    if (change !== undefined)
      await appendEvents(tx, [accountDisconnected({ ...key, platform, ...change })]);
    return { platform, tokens };
  });
  nudge();
  return disconnected;
}

export async function disconnectAccount(
  deps: Deps,
  { ref }: DisconnectAccountRequest,
): Promise<MessageInitShape<typeof DisconnectAccountResponseSchema>> {
  const key = toAccountKey(ref);
  if (key === undefined) throw notFound();
  const { platform, tokens } = await disconnect(deps, key);
  if (tokens === undefined) return { revocation: "not_attempted", reason: "already_disconnected" };
  const revocation = await revokeTokens(deps, { ...key, platform }, tokens);
  return revocation.outcome === "unconfirmed"
    ? { revocation: "unconfirmed" }
    : { revocation: "not_attempted", reason: revocation.reason };
}
