import type { TransactionSql } from "@postrider/shared/postgres";
import type { Cause } from "@postrider/shared/telemetry/cause";
import type { WebhookEvent } from "#src/webhooks/domain/webhook-event.ts";
import { appendUsage, eventBytes } from "./usage.ts";

/** A webhook event with the JSON that subscriptions receive. */
export interface WrittenEvent {
  readonly event: WebhookEvent;
  readonly payload: string;
  readonly cause: Cause;
}

/** Inserts webhook events with their payload. An event that has a payload keeps it, because it may have been sent. */
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
