import type { TransactionSql } from "@postrider/shared/postgres";

/**
 * Lets the dispatcher look at a subscription's deliveries now, and forgets what it knew of the receiver: pauses, the open
 * circuit and failures. For a subscription that was resumed or has another address.
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
 * Lets the dispatcher look at the deliveries of subscriptions now. The rows are locked in the order of the ids, so that two
 * transactions never deadlock. They are updated even if their time has passed: a dispatcher that has just read the queue
 * without the new deliveries then waits and cannot overwrite the time.
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

/** Lets the dispatcher look at a subscription's deliveries now. */
export async function wakeLane(tx: TransactionSql, subscriptionId: string): Promise<void> {
  await tx`
    update webhook_lanes
    set wake_at = least(wake_at, now())
    where subscription_id = ${subscriptionId}`;
}
