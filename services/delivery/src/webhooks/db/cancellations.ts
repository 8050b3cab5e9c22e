import type { ISql, TransactionSql } from "@postrider/shared/postgres";

/** Marks waiting webhook deliveries as cancelled, and removes them from the queue. */
export async function cancelDeliveries(
  tx: TransactionSql,
  deliveryIds: readonly string[],
): Promise<void> {
  await tx`
    delete from webhook_queue
    where delivery_id = any(${deliveryIds as string[]}::uuid[])`;
  await tx`
    update webhook_deliveries
    set status = 'cancelled',
      next_attempt_at = null
    where id = any(${deliveryIds as string[]}::uuid[])
    and status = 'pending'`;
}

/**
 * Returns revoked webhook subscriptions whose deliveries may still wait. The order is random, so that each has its turn
 * even if there are many.
 */
export async function listRevoked(sql: ISql, limit: number): Promise<readonly string[]> {
  const rows = await sql<{ subscriptionId: string }[]>`
    select l.subscription_id
    from webhook_subscriptions s
    join webhook_lanes l on l.subscription_id = s.id
    where s.status = 'revoked'
    order by random()
    limit ${limit}`;
  return rows.map((row) => row.subscriptionId);
}

/**
 * Returns waiting deliveries of a webhook subscription that no process is sending, also those without a payload. Their
 * rows in the queue are locked.
 */
export async function lockWaiting(
  tx: TransactionSql,
  subscriptionId: string,
  limit: number,
): Promise<readonly string[]> {
  // A process that is claiming or recording a webhook delivery has locked its row in the queue; such a delivery is left
  // out, and a later page contains it.
  const rows = await tx<{ deliveryId: string }[]>`
    with queued as (
      select delivery_id
      from webhook_queue
      where subscription_id = ${subscriptionId}
      and sending_until <= now()
      order by is_manual, due_at
      limit ${limit}
      for update skip locked
    ),
    unqueued as (
      select id as delivery_id
      from webhook_deliveries d
      where d.subscription_id = ${subscriptionId}
      and d.status = 'pending'
      and not exists (select 1 from webhook_queue q where q.delivery_id = d.id)
      limit ${limit}
    )
    select delivery_id from queued
    union all
    select delivery_id from unqueued`;
  return rows.map((row) => row.deliveryId);
}

/**
 * Deletes the dispatcher's row of a revoked webhook subscription, so that no process looks for its deliveries any
 * longer. The row stays for 10 minutes after the revocation, because a transaction that had read the subscription
 * before may still add a delivery.
 */
export async function deleteLane(sql: ISql, subscriptionId: string): Promise<void> {
  await sql`
    delete from webhook_lanes l
    using webhook_subscriptions s
    where l.subscription_id = ${subscriptionId}
    and s.id = l.subscription_id
    and s.status = 'revoked'
    and s.updated_at < now() - interval '10 minutes'
    and l.lease_until <= now()
    and not exists (select 1 from webhook_queue q where q.subscription_id = l.subscription_id)
    and not exists (
      select 1
      from webhook_deliveries d
      where d.subscription_id = l.subscription_id
      and d.status = 'pending'
    )`;
}
