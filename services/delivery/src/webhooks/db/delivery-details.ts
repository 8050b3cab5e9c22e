import type { ISql, TransactionSql } from "@postrider/shared/postgres";

/** `delivering` is a pending delivery that a process is sending now. */
export const DELIVERY_STATUSES = [
  "pending",
  "delivering",
  "succeeded",
  "failed",
  "cancelled",
] as const;

export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** An attempt of a webhook delivery as the database returns it; times have the form of RFC 3339. */
export interface AttemptJson {
  readonly number: number;
  readonly startedAt: string;
  readonly durationMs: number;
  readonly statusCode: number | null;
  readonly error: string | null;
  readonly requestHeaders: Readonly<Record<string, string>>;
  readonly responseHeaders: Readonly<Record<string, string>> | null;
  readonly responseBody: string | null;
}

export interface FoundDelivery {
  readonly id: string;
  readonly eventId: string;
  readonly eventType: string;
  readonly status: DeliveryStatus;
  readonly attemptCount: number;
  readonly nextAttemptAt: Date | null;
  /** Why the delivery failed without an attempt; null for all other deliveries. */
  readonly error: string | null;
  readonly createdAt: Date;
}

interface Details {
  readonly payload: string | null;
  readonly attempts: readonly AttemptJson[];
}

export interface DeliveryRow extends FoundDelivery, Details {}

/** The newest attempts that a delivery shows: a user can retry a delivery without a limit. */
const MAX_ATTEMPTS = 50;

/** Reads the newest attempts of each delivery in `relation`; `ids` are their ids. */
function newestAttempts(sql: ISql, relation: "found" | "fitting", ids: string[]) {
  return sql`
    select number, started_at, duration_ms, status_code, error, request_headers, response_headers, response_body
    from webhook_attempts
    where delivery_id = ${sql(relation)}.id
    and delivery_id = any(${ids}::uuid[])
    order by number desc
    limit ${MAX_ATTEMPTS}`;
}

/**
 * Returns SQL that reads the ids and sizes of the webhook deliveries of the relation `found`.
 * Postgres knows the lengths of texts without reading them, so only the texts that a page shows are
 * read.
 */
function deliverySizes(sql: ISql, ids: string[], eventIds: string[]) {
  return sql`
    select found.id, found.event_id,
      1000 + coalesce(octet_length(event.payload), 0) + coalesce(attempts.bytes, 0) as bytes
    from found
    left join webhook_events as event on event.id = found.event_id and event.id = any(${eventIds}::uuid[])
    cross join lateral (
      select sum(500 + coalesce(octet_length(response_body), 0) + coalesce(octet_length(response_headers::text), 0)
        + octet_length(request_headers::text)) as bytes
      from (${newestAttempts(sql, "found", ids)}) as newest
    ) as attempts`;
}

/**
 * Reads the payloads and the attempts of webhook deliveries, newest first. The result ends before
 * it exceeds `limit` or `maxBytes`, but has at least one delivery. The conditions on the lists of
 * ids make Postgres read only the partitions of these ids.
 */
export async function readDetails(
  sql: ISql,
  found: readonly FoundDelivery[],
  { limit, maxBytes }: { readonly limit: number; readonly maxBytes: number },
): Promise<readonly DeliveryRow[]> {
  if (found.length === 0) return [];
  const ids = found.map(({ id }) => id);
  const eventIds = found.map(({ eventId }) => eventId);
  const rows = await sql<(Details & { readonly id: string; readonly isSending: boolean })[]>`
    with found as (
      select id, event_id
      from unnest(${ids}::uuid[], ${eventIds}::uuid[]) as listed (id, event_id)
    ),
    numbered as (
      select id, event_id,
        row_number() over newest_first as number,
        sum(bytes) over newest_first as total_bytes
      from (${deliverySizes(sql, ids, eventIds)}) as sized
      window newest_first as (order by id desc)
    ),
    fitting as (
      select id, event_id
      from numbered
      where number = 1
      or (number <= ${limit} and total_bytes <= ${maxBytes})
    )
    select fitting.id, event.payload, coalesce(attempts.list, '[]') as attempts,
      coalesce(queue.sending_until > now(), false) as is_sending
    from fitting
    left join webhook_events as event on event.id = fitting.event_id and event.id = any(${eventIds}::uuid[])
    left join webhook_queue as queue on queue.delivery_id = fitting.id
    cross join lateral (
      select json_agg(json_build_object(
          'number', number, 'startedAt', started_at, 'durationMs', duration_ms, 'statusCode', status_code,
          'error', error, 'requestHeaders', request_headers, 'responseHeaders', response_headers,
          'responseBody', response_body
        ) order by number) as list
      from (${newestAttempts(sql, "fitting", ids)}) as newest
    ) as attempts`;
  const details = new Map(rows.map((row) => [row.id, row]));
  return found.flatMap((delivery) => {
    const shown = details.get(delivery.id);
    if (shown === undefined) return [];
    const { payload, attempts, isSending } = shown;
    const status = delivery.status === "pending" && isSending ? "delivering" : delivery.status;
    return [{ ...delivery, status, payload, attempts }];
  });
}

export async function getDelivery(sql: ISql, id: string): Promise<DeliveryRow | undefined> {
  const found = await sql<FoundDelivery[]>`
    select id, event_id, event_type, status, attempt_count, next_attempt_at, error, created_at
    from webhook_deliveries
    where id = ${id}`;
  const [row] = await readDetails(sql, found, { limit: 1, maxBytes: 0 });
  return row;
}

export async function lockDelivery(
  tx: TransactionSql,
  subscriptionId: string,
  id: string,
): Promise<{ readonly status: DeliveryStatus } | undefined> {
  const [row] = await tx<{ status: DeliveryStatus }[]>`
    select status
    from webhook_deliveries
    where id = ${id}
    and subscription_id = ${subscriptionId}
    for no key update`;
  return row;
}

/** Makes a failed webhook delivery due now. The delivery continues to count its attempts. */
export async function requeueDelivery(tx: TransactionSql, id: string): Promise<void> {
  await tx`
    with requeued as (
      update webhook_deliveries
      set status = 'pending',
        error = null,
        next_attempt_at = now()
      where id = ${id}
      returning id, subscription_id, event_id, attempt_count
    )
    insert into webhook_queue (delivery_id, subscription_id, event_id, attempt_count, is_manual)
    select id, subscription_id, event_id, attempt_count, true
    from requeued
    on conflict (delivery_id) do nothing`;
}
