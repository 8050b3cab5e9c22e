import type { ISql, TransactionSql } from "@postrider/shared/postgres";
import type { Cause } from "@postrider/shared/telemetry/cause";
import type { WebhookEvent } from "#src/webhooks/domain/webhook-event.ts";

/** A webhook event with the subscriptions that receive it and have no delivery of it yet. */
export interface Arrival {
  readonly event: WebhookEvent;
  readonly cause: Cause;
  readonly subscriptionIds: readonly string[];
}

/** Stores events whose deliveries are inserted later. A stored event stays as it is. */
export async function insertArrivals(
  tx: TransactionSql,
  arrivals: readonly Arrival[],
): Promise<void> {
  if (arrivals.length === 0) return;
  const rows = arrivals.map(({ event, cause, subscriptionIds }) => ({
    event_id: event.id,
    workspace_id: event.workspaceId,
    type: event.type,
    occurred_at: event.occurredAt.toISOString(),
    sequence: event.sequence,
    source: event.source,
    cause,
    subscription_ids: subscriptionIds,
  }));
  await tx`
    insert into webhook_arrivals (
      event_id, workspace_id, type, occurred_at, sequence, source, cause, subscription_ids
    )
    select event_id, workspace_id, type, occurred_at, sequence, source, cause, subscription_ids
    from jsonb_to_recordset(${tx.json(rows)}) as event (
      event_id uuid, workspace_id uuid, type text, occurred_at timestamptz, sequence bigint,
      source jsonb, cause jsonb, subscription_ids uuid[]
    )
    order by event_id
    on conflict (event_id) do nothing`;
}

/** Finds the workspace after an id that has stored events. */
export async function findNextWorkspace(sql: ISql, after: string): Promise<string | undefined> {
  const [row] = await sql<{ workspaceId: string }[]>`
    select workspace_id
    from webhook_arrivals
    where workspace_id > ${after}
    order by workspace_id
    limit 1`;
  return row?.workspaceId;
}

/** Removes the oldest stored events of a workspace, except those that another process is taking. */
export async function takeArrivals(
  tx: TransactionSql,
  workspaceId: string,
  { limit, except }: { readonly limit: number; readonly except: readonly string[] },
): Promise<readonly Arrival[]> {
  const rows = await tx<(WebhookEvent & Omit<Arrival, "event">)[]>`
    delete from webhook_arrivals
    where event_id = any(array(
      select event_id
      from webhook_arrivals
      where workspace_id = ${workspaceId}
      and event_id <> all(${[...except]}::uuid[])
      order by event_id
      limit ${limit}
      for update skip locked
    ))
    returning event_id as id, workspace_id, type, occurred_at, sequence, source, cause,
      to_json(subscription_ids) as subscription_ids`;
  return rows.map(({ cause, subscriptionIds, ...event }) => ({ event, cause, subscriptionIds }));
}
