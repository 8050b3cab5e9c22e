import type { TransactionSql } from "@postrider/shared/postgres";
import type { AccountKey } from "#src/db/accounts.ts";

/**
 * Changes the platform's id of an account that `lockAccount` found in the same transaction.
 *
 * @returns False, and nothing is changed, when the workspace has or had another account with this id.
 */
export async function setExternalId(
  tx: TransactionSql,
  key: AccountKey,
  externalId: string,
): Promise<boolean> {
  // A connection of the new id that is committed meanwhile fails this statement, and with it the transaction, by the unique
  // constraint; a repetition then finds that account.
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
