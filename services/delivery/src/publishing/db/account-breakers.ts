import type { TransactionSql } from "@postrider/shared/postgres";

export interface AccountKey {
  readonly accountId: string;
  readonly workspaceId: string;
}

/** Delays the tasks of accounts until an instant; a later instant that is stored stays. */
export async function delayAccounts(
  tx: TransactionSql,
  holds: readonly (AccountKey & { readonly until: Date })[],
): Promise<void> {
  const rows = holds.map((hold) => ({
    account_id: hold.accountId,
    workspace_id: hold.workspaceId,
    not_before: hold.until.toISOString(),
  }));
  await tx`
    insert into account_breakers as g (account_id, workspace_id, not_before)
    select account_id, workspace_id, max(not_before)
    from jsonb_to_recordset(${tx.json(rows)})
      as k(account_id uuid, workspace_id uuid, not_before timestamptz)
    group by account_id, workspace_id
    order by account_id
    on conflict (account_id) do update
    set not_before = greatest(g.not_before, excluded.not_before)`;
}

/** Counts one failure per entry. Returns the consecutive failures of each account. */
export async function countFailures(
  tx: TransactionSql,
  accounts: readonly AccountKey[],
): Promise<readonly (AccountKey & { readonly failuresInRow: number })[]> {
  const rows = accounts.map((account) => ({
    account_id: account.accountId,
    workspace_id: account.workspaceId,
  }));
  return await tx<(AccountKey & { failuresInRow: number })[]>`
    insert into account_breakers as g (account_id, workspace_id, failures_in_row)
    select account_id, workspace_id, count(*)
    from jsonb_to_recordset(${tx.json(rows)}) as k(account_id uuid, workspace_id uuid)
    group by account_id, workspace_id
    order by account_id
    on conflict (account_id) do update
    set failures_in_row = g.failures_in_row + excluded.failures_in_row
    returning account_id, workspace_id, failures_in_row`;
}

/**
 * Locks the rows of accounts whose failures or waiting time the transaction is about to change.
 * Rows that do not exist are created for accounts that failed or have to wait, and not for accounts
 * whose platform answered.
 *
 * @returns The ids of the accounts whose rows are locked.
 */
export async function lockAccountBreakers(
  tx: TransactionSql,
  accounts: {
    readonly answered: readonly AccountKey[];
    readonly stopped: readonly AccountKey[];
  },
): Promise<readonly string[]> {
  const toRow = (isStopped: boolean) => (account: AccountKey) => ({
    account_id: account.accountId,
    workspace_id: account.workspaceId,
    is_stopped: isStopped,
  });
  const rows = [...accounts.answered.map(toRow(false)), ...accounts.stopped.map(toRow(true))];
  // One statement locks all rows, in the order of the accounts, so that two transactions cannot
  // deadlock. The update changes nothing: at a conflict, Postgres locks the existing row only if
  // the statement updates it.
  const locked = await tx<{ accountId: string }[]>`
    insert into account_breakers as g (account_id, workspace_id)
    select account_id, workspace_id
    from jsonb_to_recordset(${tx.json(rows)}) as k(account_id uuid, workspace_id uuid, is_stopped boolean)
    where is_stopped
    or account_id in (select account_id from account_breakers where failures_in_row > 0)
    group by account_id, workspace_id
    order by account_id
    on conflict (account_id) do update
    set failures_in_row = g.failures_in_row
    returning account_id`;
  return locked.map(({ accountId }) => accountId);
}

export async function resetFailures(
  tx: TransactionSql,
  accountIds: readonly string[],
): Promise<void> {
  await tx`
    update account_breakers
    set failures_in_row = 0
    where account_id in ${tx(accountIds)}
    and failures_in_row > 0`;
}
