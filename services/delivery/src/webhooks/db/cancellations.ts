import type { ISql, TransactionSql } from "@postrider/shared/postgres";

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
 * Returns revoked subscriptions whose deliveries may still wait, in random order, so that each has
 * its turn.
 */
export async function listRevoked(sql: ISql, limit: number): Promise<readonly string[]> {
  const rows = await sql<{ subscriptionId: string }[]>`
    select l.subscription_id
    from webhook_subscriptions s
    join webhook_leases l on l.subscription_id = s.id
    where s.status = 'revoked'
    order by random()
    limit ${limit}`;
  return rows.map((row) => row.subscriptionId);
}

export interface WaitingPage {
  /** The deliveries of the page that no process is sending. Their rows in the queue are locked. */
  readonly ids: readonly string[];
  /** Id of the last delivery of the page; undefined if it has none. */
  readonly last: string | undefined;
}

/**
 * Returns the waiting deliveries with the first ids after `after`. Each page reads only its own
 * rows.
 */
export async function lockWaiting(
  tx: TransactionSql,
  subscriptionId: string,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<WaitingPage> {
  // A process that is claiming or recording a webhook delivery has locked its row in the queue;
  // such a delivery is left out, and a later pass finds it.
  const rows = await tx<{ id: string; isFree: boolean }[]>`
    with page as materialized (
      select id
      from webhook_deliveries
      where subscription_id = ${subscriptionId}
      and status = 'pending'
      and id > ${after}
      order by id
      limit ${limit}
    ),
    free as materialized (
      select delivery_id
      from webhook_queue
      where delivery_id = any(array(select id from page))
      and sending_until <= now()
      for update skip locked
    )
    select page.id, free.delivery_id is not null as is_free
    from page
    left join free on free.delivery_id = page.id
    order by page.id`;
  const ids = rows.filter(({ isFree }) => isFree).map(({ id }) => id);
  return { ids, last: rows.at(-1)?.id };
}

/**
 * Deletes the dispatcher's row of a revoked subscription, so that no process looks for its
 * deliveries any longer. The row stays for 10 minutes after the revocation, because a transaction
 * that had read the subscription before may still add a delivery.
 */
export async function deleteLease(sql: ISql, subscriptionId: string): Promise<void> {
  await sql`
    delete from webhook_leases l
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
