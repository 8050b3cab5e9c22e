import type { ISql, TransactionSql } from "@postrider/shared/postgres";
import type { Cause } from "@postrider/shared/telemetry/cause";
import type { EventSource, WebhookEvent } from "#src/webhooks/domain/webhook-event.ts";

/** Inserts webhook events whose payload has to be written. */
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
  // A repeated webhook event that reaches another subscription may still wait for its payload. The update waits for a
  // transaction that is just deleting the row of the event, because that transaction does not see the new delivery.
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

/** A webhook event whose payload has to be written. */
export interface Composition extends WebhookEvent {
  readonly cause: Cause;
  /** Number of failures to write the payload that the event itself caused. */
  readonly tries: number;
}

/**
 * Claims webhook events whose payload has to be written, oldest first. Until the lease ends, no other process claims
 * them.
 *
 * @param except What events are about (`post`, `account`, …) whose owning service is unavailable; these events wait.
 */
export async function claimCompositions(
  sql: ISql,
  options: {
    readonly limit: number;
    readonly leaseMs: number;
    readonly except: readonly EventSource["kind"][];
  },
): Promise<readonly Composition[]> {
  return await sql<Composition[]>`
    with claimed as (
      select event_id
      from webhook_compositions
      where lease_until <= now()
      and source ->> 'kind' <> all(${[...options.except]}::text[])
      order by event_id
      limit ${options.limit}
      for update skip locked
    )
    update webhook_compositions as composition
    set lease_until = now() + ${options.leaseMs}::float8 * interval '1 millisecond'
    from claimed
    where composition.event_id = claimed.event_id
    returning composition.event_id as id, workspace_id, type, occurred_at, sequence, source, cause, tries`;
}

/** Locks those of the given webhook events whose payload is not written yet, and returns their ids. */
export async function lockCompositions(
  tx: TransactionSql,
  eventIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await tx<{ eventId: string }[]>`
    select event_id
    from webhook_compositions
    where event_id = any(${[...eventIds]}::uuid[])
    order by event_id
    for update`;
  return new Set(rows.map(({ eventId }) => eventId));
}

/** Removes webhook events whose payload has been written from the list of payloads that are still to be written. */
export async function deleteCompositions(
  tx: TransactionSql,
  eventIds: readonly string[],
): Promise<void> {
  await tx`delete from webhook_compositions where event_id = any(${[...eventIds]}::uuid[])`;
}

/**
 * Ends the lease of webhook events whose post, account or other subject could not be read, because the service that
 * owns it is unavailable.
 */
export async function releaseCompositions(sql: ISql, eventIds: readonly string[]): Promise<void> {
  if (eventIds.length === 0) return;
  await sql`
    update webhook_compositions
    set lease_until = '-infinity'
    where event_id = any(${[...eventIds]}::uuid[])`;
}

/**
 * Counts a failure of webhook events whose payload could not be written, and lets them wait for the next try: 1 s, 2 s,
 * 4 s and so on.
 */
export async function delayCompositions(sql: ISql, eventIds: readonly string[]): Promise<void> {
  if (eventIds.length === 0) return;
  await sql`
    update webhook_compositions
    set tries = tries + 1,
      lease_until = now() + power(2, tries) * interval '1 second'
    where event_id = any(${[...eventIds]}::uuid[])`;
}
