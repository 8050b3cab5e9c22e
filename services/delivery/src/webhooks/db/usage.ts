import type { ISql, TransactionSql } from "@postrider/shared/postgres";

/** Approximate size of rows with their index entries, without the texts that follow below. */
const EVENT_ROW_BYTES = 500;
export const DELIVERY_ROW_BYTES = 400;
const ATTEMPT_ROW_BYTES = 300;

export function eventBytes(sql: ISql) {
  return sql`${EVENT_ROW_BYTES}::int + octet_length(payload)`;
}

/** Size of a row of `webhook_attempts` before compression. */
export function attemptBytes(sql: ISql) {
  return sql`${ATTEMPT_ROW_BYTES}::int + octet_length(request_headers::text)
    + coalesce(octet_length(response_headers::text), 0) + coalesce(octet_length(response_body), 0)`;
}

/** Notes how a statement changes the size of the history, by the `bytes` and ids of `changed`. */
export function appendUsage(sql: ISql, changed: string) {
  return sql`
    insert into webhook_usage_changes (workspace_id, day, bytes)
    select workspace_id, day_of_id(id), sum(bytes)
    from ${sql(changed)}
    group by workspace_id, day_of_id(id)`;
}

/** Adds up to `limit` noted changes to the sizes of the histories, and returns what it added. */
export async function addUsage(
  sql: ISql,
  limit: number,
): Promise<{ readonly count: number; readonly workspaceIds: readonly string[] }> {
  // Of two processes that do this at once, each change reaches one, because the second waits for
  // the deletion of the first.
  const [row] = await sql<{ count: number; workspaceIds: readonly string[] }[]>`
    with change as (
      delete from webhook_usage_changes
      where ctid = any(array(select ctid from webhook_usage_changes limit ${limit}))
      returning workspace_id, day, bytes
    ),
    added as (
      insert into webhook_usage (workspace_id, day, bytes)
      select workspace_id, day, sum(bytes)
      from change
      group by workspace_id, day
      order by workspace_id, day
      on conflict (workspace_id, day) do update
      set bytes = greatest(0, webhook_usage.bytes + excluded.bytes)
    )
    select count(*)::int as count, to_json(array_agg(distinct workspace_id)) as workspace_ids
    from change`;
  return { count: row?.count ?? 0, workspaceIds: row?.workspaceIds ?? [] };
}

/** Lists up to `limit` workspaces with a history that is too large: all, or those of `among`. */
export async function listOverBudget(
  sql: ISql,
  maxBytes: number,
  { among, limit }: { readonly among: readonly string[] | undefined; readonly limit: number },
): Promise<readonly string[]> {
  const rows = await sql<{ workspaceId: string }[]>`
    select workspace_id
    from webhook_usage
    ${among === undefined ? sql`` : sql`where workspace_id = any(${[...among]}::uuid[])`}
    group by workspace_id
    having sum(bytes) > ${maxBytes}
    order by random()
    limit ${limit}`;
  return rows.map(({ workspaceId }) => workspaceId);
}

/** Returns the size of a workspace's history, including changes that are not added yet. */
export async function readUsage(sql: ISql, workspaceId: string): Promise<number> {
  const [row] = await sql<{ bytes: number }[]>`
    select coalesce(sum(bytes), 0)::float8 as bytes
    from (
      select bytes from webhook_usage where workspace_id = ${workspaceId}
      union all
      select bytes from webhook_usage_changes where workspace_id = ${workspaceId}
    ) as part`;
  return row?.bytes ?? 0;
}

/**
 * How long an attempt of a waiting delivery stays: within this time, a process that lost the answer
 * of the database records it again, and finds that it is recorded.
 */
const ATTEMPT_STAYS = "10 minutes";

/** Returns false if another process trims the history of the workspace. */
export async function lockTrimming(tx: TransactionSql, workspaceId: string): Promise<boolean> {
  const [row] = await tx<{ isLocked: boolean }[]>`
    select pg_try_advisory_xact_lock(hashtextextended(${`webhook_history ${workspaceId}`}, 0)) as is_locked`;
  return row?.isLocked === true;
}

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

/** Locks the finished deliveries of events, so that no retry begins, and returns all of them. */
export async function lockFinished(
  tx: TransactionSql,
  eventIds: readonly string[],
): Promise<readonly LockedDelivery[]> {
  // The ids of an event and of its deliveries begin with the same time, so few rows of one
  // partition are read per event.
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

/** Deletes attempts of finished deliveries, and those of waiting ones that ended some time ago. */
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
 * Deletes events without deliveries. A transaction that assigns one of them at the same time also
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
