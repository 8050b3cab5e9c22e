import type { ISql, TransactionSql } from "@postrider/shared/postgres";
import { appendUsage, attemptBytes, DELIVERY_ROW_BYTES, eventBytes } from "./usage.ts";

/**
 * How long an attempt of a waiting delivery stays. A process that lost the answer of the database records an attempt again
 * within this time, and finds that it is recorded.
 */
const ATTEMPT_STAYS = "10 minutes";

/** Lets only one process at a time trim the history of a workspace. Returns false if another one does. */
export async function lockTrimming(tx: TransactionSql, workspaceId: string): Promise<boolean> {
  const [row] = await tx<{ isLocked: boolean }[]>`
    select pg_try_advisory_xact_lock(hashtextextended(${`webhook_history ${workspaceId}`}, 0)) as is_locked`;
  return row?.isLocked === true;
}

/** Lists the oldest events of a workspace whose ids follow `after`. */
export async function listEventIds(
  sql: ISql,
  workspaceId: string,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<readonly string[]> {
  const rows = await sql<{ id: string }[]>`
    select id
    from webhook_events
    where workspace_id = ${workspaceId}
    and id > ${after}
    order by id
    limit ${limit}`;
  return rows.map(({ id }) => id);
}

interface LockedDelivery {
  readonly id: string;
  readonly eventId: string;
  /** Whether the delivery has ended. False also if another transaction is just changing it. */
  readonly isFinished: boolean;
}

/** Locks the finished deliveries of events, so that no retry begins, and returns all deliveries of these events. */
export async function lockFinished(
  tx: TransactionSql,
  eventIds: readonly string[],
): Promise<readonly LockedDelivery[]> {
  // The ids of an event and of its deliveries begin with the same time, so few rows of one partition are read per event.
  const time = (id: string) => id.slice(0, 13);
  const deliveries = await tx<{ id: string; eventId: string }[]>`
    select delivery.id, delivery.event_id
    from unnest(
      ${[...eventIds]}::uuid[],
      ${eventIds.map((id) => `${time(id)}-0000-0000-000000000000`)}::uuid[],
      ${eventIds.map((id) => `${time(id)}-ffff-ffff-ffffffffffff`)}::uuid[]
    ) as event (id, first, last)
    cross join lateral (
      select id, event_id
      from webhook_deliveries
      where id between event.first and event.last
      and event_id = event.id
    ) as delivery`;
  const locked = await tx<{ id: string }[]>`
    select id
    from webhook_deliveries
    where id = any(${deliveries.map(({ id }) => id)}::uuid[])
    and status <> 'pending'
    for update skip locked`;
  const finished = new Set(locked.map(({ id }) => id));
  return deliveries.map((delivery) => ({ ...delivery, isFinished: finished.has(delivery.id) }));
}

/** Deletes the attempts of finished deliveries, and those of waiting deliveries that ended some time ago. */
export async function deleteAttempts(
  tx: TransactionSql,
  {
    finished,
    waiting,
  }: { readonly finished: readonly string[]; readonly waiting: readonly string[] },
): Promise<void> {
  await tx`
    with deleted as (
      delete from webhook_attempts
      where delivery_id = any(${[...finished, ...waiting]}::uuid[])
      and (
        delivery_id = any(${[...finished]}::uuid[])
        or started_at < now() - ${ATTEMPT_STAYS}::interval
      )
      returning workspace_id, delivery_id as id, -(${attemptBytes(tx)}) as bytes
    )
    ${appendUsage(tx, "deleted")}`;
}

export async function deleteDeliveries(
  tx: TransactionSql,
  deliveryIds: readonly string[],
): Promise<void> {
  await tx`
    with deleted as (
      delete from webhook_deliveries
      where id = any(${[...deliveryIds]}::uuid[])
      returning workspace_id, id, -(${DELIVERY_ROW_BYTES}::int) as bytes
    )
    ${appendUsage(tx, "deleted")}`;
}

/**
 * Deletes events without deliveries. A transaction that assigns one of them to a further subscription at the same time also
 * lets its payload be written again.
 */
export async function deleteEvents(tx: TransactionSql, eventIds: readonly string[]): Promise<void> {
  await tx`
    with deleted as (
      delete from webhook_events
      where id = any(${[...eventIds]}::uuid[])
      returning workspace_id, id, -(${eventBytes(tx)}) as bytes
    )
    ${appendUsage(tx, "deleted")}`;
}
