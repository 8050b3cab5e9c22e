import type { TransactionSql } from "@postrider/shared/postgres";
import type { Cause } from "@postrider/shared/telemetry/cause";
import type { WebhookEvent } from "#src/webhooks/domain/webhook-event.ts";

/** Inserts events whose payload has to be written. */
export async function insertCompositions(
  tx: TransactionSql,
  compositions: readonly { readonly event: WebhookEvent; readonly cause: Cause }[],
): Promise<void> {
  if (compositions.length === 0) return;
  const rows = compositions.map(({ event, cause }) => ({
    event_id: event.id,
    workspace_id: event.workspaceId,
    type: event.type,
    occurred_at: event.occurredAt.toISOString(),
    sequence: event.sequence,
    source: event.source,
    cause,
  }));
  // A repeated event that reaches another subscription may still wait for its payload. The update waits for a transaction that
  // is just deleting the row, because that transaction does not see the new delivery.
  await tx`
    insert into webhook_compositions (
      event_id, workspace_id, type, occurred_at, sequence, source, cause
    )
    select event_id, workspace_id, type, occurred_at, sequence, source, cause
    from jsonb_to_recordset(${tx.json(rows)}) as event (
      event_id uuid, workspace_id uuid, type text, occurred_at timestamptz, sequence bigint,
      source jsonb, cause jsonb
    )
    order by event_id
    on conflict (event_id) do update
    set lease_until = webhook_compositions.lease_until`;
}
