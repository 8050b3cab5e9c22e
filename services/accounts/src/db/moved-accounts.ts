import type { TransactionSql } from "@postrider/shared/postgres";
import type { AccountKey } from "#src/db/accounts.ts";
import { endRefresh, type HeldTokens } from "#src/db/credentials.ts";

/**
 * Changes the platform's id of an account that `lockAccount` found in the same transaction.
 *
 * @returns False, and nothing is changed, when the workspace has or had another account with this
 *   id.
 */
export async function setExternalId(
  tx: TransactionSql,
  key: AccountKey,
  externalId: string,
): Promise<boolean> {
  // A connection of the new id that is committed meanwhile fails this statement, and with it the
  // transaction, by the unique constraint; a repetition then finds that account.
  const rows = await tx`
    update accounts a
    set external_id = ${externalId},
      version = version + 1
    where a.workspace_id = ${key.workspaceId}
    and a.id = ${key.accountId}
    and not exists (
      select 1
      from accounts o
      where o.workspace_id = a.workspace_id
      and o.platform = a.platform
      and o.external_id = ${externalId}
    )
    returning 1`;
  return rows.length > 0;
}

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
 * Replaces the encrypted tokens of a credential that `lockCredential` locked. Raises its version,
 * so that a token refresh in progress, whose tokens are bound to the old id of the account, cannot
 * store them.
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
      given_up_version = null,
      ${endRefresh(tx)}
    where workspace_id = ${key.workspaceId}
    and account_id = ${key.accountId}`;
}
