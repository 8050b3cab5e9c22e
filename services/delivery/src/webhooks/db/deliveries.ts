import type { TransactionSql } from "@postrider/shared/postgres";
import type { WebhookEvent } from "#src/webhooks/domain/webhook-event.ts";

interface NewDelivery {
  readonly id: string;
  readonly subscriptionId: string;
  readonly event: WebhookEvent;
}

/** Inserts deliveries that do not exist yet, and returns the id of the event of each inserted one. */
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
