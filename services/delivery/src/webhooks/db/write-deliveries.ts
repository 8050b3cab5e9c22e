import type { ISql } from "@postrider/shared/postgres";
import type { Composition } from "./compositions.ts";
import { appendUsage, DELIVERY_ROW_BYTES, eventBytes } from "./usage.ts";

export interface WrittenEvent {
  readonly event: Composition;
  readonly payload: string;
}

export interface NewDelivery {
  readonly id: string;
  readonly subscriptionId: string;
  readonly eventId: string;
  /** Whether too many deliveries wait already, so that this one fails without an attempt. */
  readonly isRefused: boolean;
}

/**
 * The events that still wait, locked in the order of their ids and removed from the list. An event
 * that got another receiver since it was claimed stays, and is composed again with it.
 */
function takeWaiting(sql: ISql, events: readonly WrittenEvent[]) {
  const rows = events.map(({ event, payload }) => ({
    id: event.id,
    payload,
    subscription_ids: event.subscriptionIds,
  }));
  return sql`
    locked as materialized (
      select event_id, payload
      from jsonb_to_recordset(${sql.json(rows)}) as written (
        id uuid, payload text, subscription_ids uuid[]
      )
      join webhook_compositions on event_id = written.id
      where webhook_compositions.subscription_ids <@ written.subscription_ids
      order by event_id
      for update of webhook_compositions
    ),
    taken as (
      delete from webhook_compositions as composition
      using locked
      where composition.event_id = locked.event_id
      returning composition.event_id as id, workspace_id, type, cause, payload
    )`;
}

/**
 * Queues the new deliveries and wakes their subscriptions, whose rows are locked in the order of
 * the ids, so that two statements never deadlock. A row is updated even if its time has passed: a
 * dispatcher that has just read the queue without the new deliveries then waits for this statement
 * and cannot overwrite the time.
 */
function queueNew(sql: ISql) {
  return sql`
    queued as (
      insert into webhook_queue (delivery_id, subscription_id, event_id)
      select id, subscription_id, event_id
      from delivery
      where status = 'pending'
      returning subscription_id
    ),
    woken as (
      update webhook_leases
      set wake_at = least(wake_at, now())
      where subscription_id in (
        select subscription_id
        from webhook_leases
        where subscription_id in (select subscription_id from queued)
        order by subscription_id
        for no key update
      )
    )`;
}

/**
 * Writes events with their payloads and deliveries, and queues these, in one statement. An event
 * that has a payload keeps it, because it may have been sent. Returns the ids of the deliveries
 * that did not exist.
 */
export async function writeDeliveries(
  sql: ISql,
  events: readonly WrittenEvent[],
  deliveries: readonly NewDelivery[],
): Promise<ReadonlySet<string>> {
  const rows = deliveries.map(({ id, subscriptionId, eventId, isRefused }) => ({
    id,
    subscription_id: subscriptionId,
    event_id: eventId,
    ...(isRefused ? { error: "backlog_full" } : {}),
  }));
  const written = await sql<{ id: string }[]>`
    with ${takeWaiting(sql, events)},
    event as (
      insert into webhook_events (id, workspace_id, type, payload, cause)
      select id, workspace_id, type, payload, cause
      from taken
      order by id
      on conflict (id) do nothing
      returning workspace_id, id, ${eventBytes(sql)} as bytes
    ),
    delivery as (
      insert into webhook_deliveries (id, subscription_id, workspace_id, event_id, event_type, status, error)
      select row.id, subscription_id, workspace_id, event_id, type,
        case when error is null then 'pending' else 'failed' end, error
      from jsonb_to_recordset(${sql.json(rows)}) as row (
        id uuid, subscription_id uuid, event_id uuid, error text
      )
      join taken on taken.id = row.event_id
      order by row.id
      on conflict (id) do nothing
      returning workspace_id, id, ${DELIVERY_ROW_BYTES}::int as bytes, subscription_id, event_id, status
    ),
    ${queueNew(sql)},
    added as (
      select workspace_id, id, bytes from event
      union all
      select workspace_id, id, bytes from delivery
    ),
    usage as (${appendUsage(sql, "added")})
    select id
    from delivery`;
  return new Set(written.map(({ id }) => id));
}
