import type { ISql, TransactionSql } from "@postrider/shared/postgres";

/**
 * Status of a webhook delivery as the API shows it. `delivering` is a pending delivery that a process is sending now.
 */
export const DELIVERY_STATUSES = [
  "pending",
  "delivering",
  "succeeded",
  "failed",
  "cancelled",
] as const;

export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** An attempt of a webhook delivery as the database returns it; times are RFC 3339. */
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

export interface DeliveryRow {
  readonly id: string;
  readonly eventId: string;
  readonly eventType: string;
  readonly status: DeliveryStatus;
  readonly attemptCount: number;
  readonly nextAttemptAt: Date | null;
  readonly createdAt: Date;
  readonly payload: string | null;
  readonly attempts: readonly AttemptJson[];
}

/** The smallest id of all. */
export const FIRST_ID = "00000000-0000-0000-0000-000000000000";

/** Maximum number of attempts that a webhook delivery shows, the newest ones: a user can retry a delivery without a limit. */
const MAX_ATTEMPTS = 50;

/** Returns SQL that reads the newest attempts of a webhook delivery of the relation `listed`. */
function newestAttempts(sql: ISql, since: string) {
  return sql`
    select number, started_at, duration_ms, status_code, error, request_headers, response_headers, response_body
    from webhook_attempts
    where delivery_id = listed.id
    and delivery_id >= ${since}
    order by number desc
    limit ${MAX_ATTEMPTS}`;
}

/**
 * Returns SQL that reads the webhook deliveries of the relation `listed` with their payload and attempts.
 *
 * @param since No delivery of `listed` has a smaller id and, because both ids contain the time of the event, no event.
 */
export function deliveryDetails(sql: ISql, since: string) {
  return sql`
    select listed.id, listed.event_id, listed.event_type, listed.attempt_count, listed.next_attempt_at,
      listed.created_at, event.payload, coalesce(attempts.list, '[]') as attempts,
      case
        when listed.status = 'pending' and queue.sending_until > now() then 'delivering'
        else listed.status
      end as status
    from listed
    left join webhook_events as event on event.id = listed.event_id and event.id >= ${since}
    left join webhook_queue as queue on queue.delivery_id = listed.id
    cross join lateral (
      select json_agg(json_build_object(
          'number', number, 'startedAt', started_at, 'durationMs', duration_ms, 'statusCode', status_code,
          'error', error, 'requestHeaders', request_headers, 'responseHeaders', response_headers,
          'responseBody', response_body
        ) order by number) as list
      from (${newestAttempts(sql, since)}) as newest
    ) as attempts`;
}

/**
 * Returns SQL that reads the ids and sizes of the webhook deliveries of the relation `found`. Postgres knows the lengths of texts
 * without reading them, so a page costs what it shows, not what it leaves to the next page.
 */
export function deliverySizes(sql: ISql, since: string) {
  return sql`
    select listed.id, 1000 + coalesce(octet_length(event.payload), 0) + coalesce(attempts.bytes, 0) as bytes
    from found as listed
    left join webhook_events as event on event.id = listed.event_id and event.id >= ${since}
    cross join lateral (
      select sum(500 + coalesce(octet_length(response_body), 0) + coalesce(octet_length(response_headers::text), 0)
        + octet_length(request_headers::text)) as bytes
      from (${newestAttempts(sql, since)}) as newest
    ) as attempts`;
}

/** Reads one webhook delivery with its payload and its attempts. */
export async function getDelivery(sql: ISql, id: string): Promise<DeliveryRow | undefined> {
  const [row] = await sql<DeliveryRow[]>`
    with listed as (
      select id, event_id, event_type, status, attempt_count, next_attempt_at, created_at
      from webhook_deliveries
      where id = ${id}
    )
    ${deliveryDetails(sql, FIRST_ID)}`;
  return row;
}

/** Locks a delivery of a webhook subscription until the transaction ends. */
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
        next_attempt_at = now()
      where id = ${id}
      returning id, subscription_id, event_id, attempt_count
    )
    insert into webhook_queue (delivery_id, subscription_id, event_id, attempt_count, is_manual)
    select id, subscription_id, event_id, attempt_count, true
    from requeued
    on conflict (delivery_id) do nothing`;
}
