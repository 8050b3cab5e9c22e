import type { RevokedTokens } from "@postrider/platforms/authorization/connector";
import type { Revocation } from "@postrider/platforms/authorization/revocation";
import { appendAudit } from "@postrider/shared/audit/append";
import { notFound } from "@postrider/shared/errors";
import { appendEvents } from "@postrider/shared/outbox";
import { beginInTurn } from "@postrider/shared/postgres/begin-in-turn";
import { lockAccount, setAccountStatus, type AccountKey } from "#src/db/accounts.ts";
import { deleteTokens, type HeldTokens } from "#src/db/credentials.ts";
import type { TokenOwner } from "#src/domain/sealed-places.ts";
import { accountDisconnected } from "#src/events.ts";
import { toAccountAudit } from "#src/operations/audit-records.ts";
import type { Dependencies } from "#src/operations/dependencies.ts";
import { revokeTokens } from "#src/operations/revoke-tokens.ts";
import { unsealToken } from "#src/operations/token-sealing.ts";

type Disconnection =
  | { readonly kind: "already_disconnected" }
  | { readonly kind: "disconnected"; readonly deleted: TokenOwner & HeldTokens };

/** Afterwards the accounts service can no longer act for the account. */
async function disconnect(
  { sql, nudge }: Pick<Dependencies, "sql" | "nudge">,
  key: AccountKey,
): Promise<Disconnection> {
  const disconnection = await beginInTurn(
    sql,
    key.workspaceId,
    async (tx): Promise<Disconnection> => {
      const account = await lockAccount(tx, key);
      if (account === undefined) throw notFound();
      if (account.status === "disconnected") return { kind: "already_disconnected" };
      const { platform, externalId } = account;
      const tokens = await deleteTokens(tx, key);
      const change = await setAccountStatus(tx, key, "disconnected");
      await appendEvents(tx, [accountDisconnected({ ...key, platform, ...change })]);
      const details = { platform, before: account.status, after: "disconnected" };
      await appendAudit(tx, [toAccountAudit("account.disconnect", key, details)]);
      return { kind: "disconnected", deleted: { ...key, platform, externalId, ...tokens } };
    },
  );
  nudge();
  return disconnection;
}

/**
 * Decrypts the deleted tokens of a disconnected account. Returns undefined when a token cannot be
 * decrypted, because the platform cannot be called without the token.
 */
function unsealDeleted(
  deps: Pick<Dependencies, "logger" | "credentialKeys">,
  deleted: TokenOwner & HeldTokens,
): RevokedTokens | undefined {
  const { accountId, accessToken, refreshToken, attributes } = deleted;
  if (accessToken === null) return undefined;
  try {
    return {
      accessToken: unsealToken(deps, deleted, "access_token", accessToken),
      refreshToken:
        refreshToken === null
          ? undefined
          : unsealToken(deps, deleted, "refresh_token", refreshToken),
      attributes,
    };
  } catch (error) {
    deps.logger.error(
      { err: error, accountId },
      "the platform was not asked to revoke the tokens of a disconnected account, because they cannot be decrypted. Remove Postrider's access on the platform's own page; if their key is missing, add it to CREDENTIAL_KEYS",
    );
    return undefined;
  }
}

/**
 * Disconnects an account. Its tokens are deleted from the database before the platform is called to
 * revoke them, so that the account is disconnected whatever the platform answers. Undefined if it
 * was disconnected already.
 */
export async function disconnectAndRevoke(
  deps: Dependencies,
  key: AccountKey,
): Promise<Revocation | undefined> {
  const disconnection = await disconnect(deps, key);
  if (disconnection.kind === "already_disconnected") return undefined;
  const { deleted } = disconnection;
  return await revokeTokens(deps, deleted, () => unsealDeleted(deps, deleted));
}
