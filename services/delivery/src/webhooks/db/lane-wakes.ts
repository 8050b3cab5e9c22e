import type { TransactionSql } from "@postrider/shared/postgres";

/**
 * Makes the dispatcher look at subscriptions now. Call it in the transaction that inserts deliveries into `webhook_queue`.
 */
export async function wakeLanes(
  tx: TransactionSql,
  subscriptionIds: readonly string[],
): Promise<void> {
  if (subscriptionIds.length === 0) return;
  // The rows are locked even if their time is already in the past, and their time is read under the lock. A process that
  // releases a lane locks it as well, and so either sees the new deliveries or is followed by this update.
  await tx`
    with locked as materialized (
      select subscription_id, wake_at
      from webhook_lanes
      where subscription_id = any(${[...new Set(subscriptionIds)]}::uuid[])
      order by subscription_id
      for no key update
    )
    update webhook_lanes l
    set wake_at = now()
    from locked
    where l.subscription_id = locked.subscription_id
    and locked.wake_at > now()`;
}

/**
 * Lets the dispatcher send the deliveries of a subscription that becomes active again, as if it had never failed. Call it in
 * the transaction that sets the status.
 */
export async function resumeLane(tx: TransactionSql, subscriptionId: string): Promise<void> {
  await tx`
    update webhook_lanes
    set wake_at = now(),
      blocked_until = '-infinity',
      unanswered_in_row = 0,
      failing_since = null
    where subscription_id = ${subscriptionId}`;
}
