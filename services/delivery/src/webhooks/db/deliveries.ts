import type { TransactionSql } from "@postrider/shared/postgres";
import type { WebhookEvent } from "#src/webhooks/domain/webhook-event.ts";

interface NewDelivery {
  readonly id: string;
  readonly subscriptionId: string;
  readonly event: WebhookEvent;
}

/** Inserts webhook deliveries that do not exist yet, and returns the event id of each inserted delivery. */
export async function insertDeliveries(
  tx: TransactionSql,
  deliveries: readonly NewDelivery[],
): Promise<readonly string[]> {
  if (deliveries.length === 0) return [];
  const rows = deliveries.map(({ id, subscriptionId, event }) => ({
    id,
    subscription_id: subscriptionId,
    workspace_id: event.workspaceId,
    event_id: event.id,
    event_type: event.type,
  }));
  const inserted = await tx<{ eventId: string }[]>`
    insert into webhook_deliveries (id, subscription_id, workspace_id, event_id, event_type)
    select id, subscription_id, workspace_id, event_id, event_type
    from jsonb_to_recordset(${tx.json(rows)}) as delivery (
      id uuid, subscription_id uuid, workspace_id uuid, event_id uuid, event_type text
    )
    order by id
    on conflict (id) do nothing
    returning event_id`;
  return inserted.map(({ eventId }) => eventId);
}

/**
 * Queues pending webhook deliveries whose payload has just been written, and returns their subscriptions. A delivery
 * that is queued already stays as it is.
 */
export async function queueDeliveries(
  tx: TransactionSql,
  ids: readonly string[],
): Promise<readonly string[]> {
  const queued = await tx<{ subscriptionId: string }[]>`
    insert into webhook_queue (delivery_id, subscription_id, event_id, attempt_count)
    select id, subscription_id, event_id, attempt_count
    from webhook_deliveries
    where id = any(${[...ids]}::uuid[])
    and status = 'pending'
    on conflict (delivery_id) do nothing
    returning subscription_id`;
  return [...new Set(queued.map(({ subscriptionId }) => subscriptionId))];
}
