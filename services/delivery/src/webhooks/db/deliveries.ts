import type { TransactionSql } from "@postrider/shared/postgres";
import type { WebhookEvent } from "#src/webhooks/domain/webhook-event.ts";
import { appendUsage, DELIVERY_ROW_BYTES } from "./usage.ts";

interface NewDelivery {
  readonly id: string;
  readonly subscriptionId: string;
  readonly event: WebhookEvent;
  /** Whether too many deliveries wait already, so that this one fails without an attempt. */
  readonly isRefused: boolean;
}

/** Inserts webhook deliveries that do not exist yet, and returns the ids of those that were inserted. */
export async function insertDeliveries(
  tx: TransactionSql,
  deliveries: readonly NewDelivery[],
): Promise<ReadonlySet<string>> {
  if (deliveries.length === 0) return new Set();
  const rows = deliveries.map(({ id, subscriptionId, event, isRefused }) => ({
    id,
    subscription_id: subscriptionId,
    workspace_id: event.workspaceId,
    event_id: event.id,
    event_type: event.type,
    ...(isRefused ? { error: "backlog_full" } : {}),
  }));
  const inserted = await tx<{ id: string }[]>`
    with inserted as (
      insert into webhook_deliveries (id, subscription_id, workspace_id, event_id, event_type, status, error)
      select id, subscription_id, workspace_id, event_id, event_type,
        case when error is null then 'pending' else 'failed' end, error
      from jsonb_to_recordset(${tx.json(rows)}) as delivery (
        id uuid, subscription_id uuid, workspace_id uuid, event_id uuid, event_type text, error text
      )
      order by id
      on conflict (id) do nothing
      returning workspace_id, id, ${DELIVERY_ROW_BYTES}::int as bytes
    ),
    usage as (${appendUsage(tx, "inserted")})
    select id
    from inserted`;
  return new Set(inserted.map(({ id }) => id));
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
