import type { TransactionSql } from "@postrider/shared/postgres";
import type { Cause } from "@postrider/shared/telemetry/cause";
import type { WebhookEvent } from "#src/webhooks/domain/webhook-event.ts";
import { appendUsage, DELIVERY_ROW_BYTES, eventBytes } from "./usage.ts";

export interface WrittenEvent {
  readonly event: WebhookEvent;
  readonly payload: string;
  readonly cause: Cause;
}

/** Inserts events. An event that has a payload keeps it, because it may have been sent. */
export async function insertEvents(
  tx: TransactionSql,
  events: readonly WrittenEvent[],
): Promise<void> {
  const rows = events.map(({ event, payload, cause }) => ({
    id: event.id,
    workspace_id: event.workspaceId,
    type: event.type,
    payload,
    cause,
  }));
  await tx`
    with inserted as (
      insert into webhook_events (id, workspace_id, type, payload, cause)
      select id, workspace_id, type, payload, cause
      from jsonb_to_recordset(${tx.json(rows)}) as event (
        id uuid, workspace_id uuid, type text, payload text, cause jsonb
      )
      order by id
      on conflict (id) do nothing
      returning workspace_id, id, ${eventBytes(tx)} as bytes
    )
    ${appendUsage(tx, "inserted")}`;
}

interface NewDelivery {
  readonly id: string;
  readonly subscriptionId: string;
  readonly event: WebhookEvent;
  /** Whether too many deliveries wait already, so that this one fails without an attempt. */
  readonly isRefused: boolean;
}

/** Inserts deliveries that do not exist yet, and returns their ids. */
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
 * Queues pending deliveries whose payload has been written, and returns their subscriptions. A
 * queued one stays as it is.
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
