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

/** Lets the dispatcher look at a subscription's deliveries now. */
export async function wakeLane(tx: TransactionSql, subscriptionId: string): Promise<void> {
  await tx`
    update webhook_lanes
    set wake_at = least(wake_at, now())
    where subscription_id = ${subscriptionId}`;
}
