import type { TransactionSql } from "@postrider/shared/postgres";
import type { AccountKey } from "#src/db/accounts.ts";

interface HeldTokens {
  readonly accessToken: string | null;
  readonly refreshToken: string | null;
  readonly attributes: Readonly<Record<string, string>>;
}

/** Locks the credential of an account that `lockAccount` found in the same transaction. */
export async function lockCredential(tx: TransactionSql, key: AccountKey): Promise<HeldTokens> {
  const [row] = await tx<HeldTokens[]>`
    select access_token, refresh_token, attributes
    from credentials
    where workspace_id = ${key.workspaceId}
    and account_id = ${key.accountId}
    for update`;
  if (row === undefined) throw new Error(`account ${key.accountId} has no row in credentials`);
  return row;
}

/**
 * Replaces the encrypted tokens of a credential that `lockCredential` locked. Raises its version, so that a token refresh in
 * progress, whose tokens are bound to the old id of the account, cannot store them.
 */
export async function replaceTokens(
  tx: TransactionSql,
  key: AccountKey,
  { accessToken, refreshToken }: Pick<HeldTokens, "accessToken" | "refreshToken">,
): Promise<void> {
  await tx`
    update credentials
    set access_token = ${accessToken},
      refresh_token = ${refreshToken},
      version = version + 1,
      refresh_lease_until = null,
      refresh_lease_token = null,
      given_up_version = null
    where workspace_id = ${key.workspaceId}
    and account_id = ${key.accountId}`;
}
