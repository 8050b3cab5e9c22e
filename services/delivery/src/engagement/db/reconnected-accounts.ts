import type { TransactionSql } from "@postrider/shared/postgres";
import { lockMetricsAccounts } from "./metrics-results.ts";

/** A longer wait of an account is not a lease for one call, but a pause. */
const MAX_LEASE_MS = 90_000;

/**
 * Ends the pauses that accounts have because the platform refused access, and keeps calls that
 * began before from pausing them again. Leases, budgets and rate limits stay. Failed polls for
 * comments are repeated now, or after the poll in progress.
 */
export async function resumeAccounts(
  tx: TransactionSql,
  accounts: readonly { readonly workspaceId: string; readonly accountId: string }[],
): Promise<void> {
  const rows = tx.json(
    accounts.map(({ workspaceId, accountId }) => ({
      workspace_id: workspaceId,
      account_id: accountId,
    })),
  );
  await lockMetricsAccounts(
    tx,
    accounts.map(({ accountId }) => accountId),
  );
  await tx`
    update metrics_accounts a
    set connected_at = clock_timestamp(),
      not_before = case
        when a.not_before > now() + ${MAX_LEASE_MS}::float8 * interval '1 millisecond' then now()
        else a.not_before
      end
    from jsonb_to_recordset(${rows}) as r (workspace_id uuid, account_id uuid)
    where a.account_id = r.account_id
    and a.workspace_id = r.workspace_id`;
  await tx`
    with failed as materialized (
      select a.account_id
      from automation_accounts a
      join jsonb_to_recordset(${rows}) as r (workspace_id uuid, account_id uuid)
        on r.account_id = a.account_id and r.workspace_id = a.workspace_id
      where (a.failures > 0 or a.lease_until > now())
      and a.poll_at < 'infinity'
      order by a.account_id
      for no key update of a
    )
    update automation_accounts a
    set poll_at = case
        -- A poll that runs keeps a time of the next poll that is later than its claim.
        when a.lease_until > now() then clock_timestamp()
        else least(a.poll_at, now())
      end,
      failures = 0
    from failed
    where a.account_id = failed.account_id`;
}
