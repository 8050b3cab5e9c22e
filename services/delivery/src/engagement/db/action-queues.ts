import type { TransactionSql } from "@postrider/shared/postgres";

/**
 * The last write of a transaction that stored or changed the actions. A claim may have locked the
 * row of a queue; then this waits for its end and makes the queue due again.
 */
export async function wakeQueues(tx: TransactionSql, actionIds: readonly string[]): Promise<void> {
  if (actionIds.length === 0) return;
  // Rows are locked in the order of the account ids, so that two transactions cannot deadlock.
  await tx`
    insert into comment_action_queues as q (account_id, workspace_id, platform, wake_at)
    select distinct on (account_id) account_id, workspace_id, platform, now()
    from comment_actions
    where id in ${tx(actionIds)}
    order by account_id
    on conflict (account_id) do update
    set wake_at = least(q.wake_at, excluded.wake_at)`;
}

/** Prevents claims of actions of accounts until an instant, because of a limit of the platform. */
export async function delayQueues(
  tx: TransactionSql,
  delays: readonly { readonly accountId: string; readonly until: Date }[],
): Promise<void> {
  if (delays.length === 0) return;
  const rows = delays.map(({ accountId, until }) => ({
    account_id: accountId,
    until: until.toISOString(),
  }));
  await tx`
    update comment_action_queues q
    set not_before = greatest(q.not_before, h.until)
    from (
      select account_id, max(until) as until
      from jsonb_to_recordset(${tx.json(rows)}) as r(account_id uuid, until timestamptz)
      group by account_id
    ) as h
    where q.account_id = h.account_id`;
}
