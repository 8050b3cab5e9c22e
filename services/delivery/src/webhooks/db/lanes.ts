import type { TransactionSql } from "@postrider/shared/postgres";

/**
 * Makes the dispatcher look at a webhook subscription's deliveries now, and resets what was stored about the receiver:
 * pauses and failures. Used for a subscription that was resumed or has another address.
 */
export async function resetLane(tx: TransactionSql, subscriptionId: string): Promise<void> {
  await tx`
    update webhook_lanes
    set wake_at = now(),
      blocked_until = '-infinity',
      unanswered_in_row = 0,
      failing_since = null
    where subscription_id = ${subscriptionId}`;
}

/**
 * Makes the dispatcher look at the deliveries of webhook subscriptions now. The rows are locked in the order of the
 * ids, so that two transactions never deadlock. A row is updated even if its time has passed: a dispatcher that has
 * just read the queue without the new deliveries then waits for this transaction and cannot overwrite the time.
 */
export async function wakeLanes(
  tx: TransactionSql,
  subscriptionIds: readonly string[],
): Promise<void> {
  await tx`
    update webhook_lanes
    set wake_at = least(wake_at, now())
    where subscription_id in (
      select subscription_id
      from webhook_lanes
      where subscription_id = any(${[...subscriptionIds]}::uuid[])
      order by subscription_id
      for no key update
    )`;
}
