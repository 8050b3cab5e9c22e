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

const STORED_STATUSES = ["pending", "succeeded", "failed", "cancelled"];

/** Number of due deliveries of a webhook subscription among which the query looks for those that are being sent. */
const SENDING_WINDOW = 1000;

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

interface PageRow extends DeliveryRow {
  /** Whether the list contains further webhook deliveries after the last one of this page. */
  readonly hasMore: boolean;
}

interface DeliveryFilter {
  readonly status: DeliveryStatus | undefined;
  readonly eventType: string | undefined;
}

interface Page extends DeliveryFilter {
  readonly limit: number;
  /**
   * Approximate maximum size of the page of webhook deliveries in bytes. The first delivery is on the page even if it
   * is larger.
   */
  readonly maxBytes: number;
  /** Id of the webhook delivery after which the page begins. */
  readonly before: string | undefined;
}

/** Maximum number of attempts that a webhook delivery shows, the newest ones: a user can retry a delivery without a limit. */
const MAX_ATTEMPTS = 50;

/** Returns SQL that reads the newest attempts of a webhook delivery of the relation `listed`. */
function newestAttempts(sql: ISql) {
  return sql`
    select number, started_at, duration_ms, status_code, error, request_headers, response_headers, response_body
    from webhook_attempts
    where delivery_id = listed.id
    order by number desc
    limit ${MAX_ATTEMPTS}`;
}

/** Returns SQL that reads the webhook deliveries of the relation `listed` with their payload and attempts. */
function details(sql: ISql) {
  return sql`
    select listed.id, listed.event_id, listed.event_type, listed.attempt_count, listed.next_attempt_at,
      listed.created_at, event.payload, coalesce(attempts.list, '[]') as attempts,
      case
        when listed.status = 'pending' and queue.sending_until > now() then 'delivering'
        else listed.status
      end as status
    from listed
    left join webhook_events as event on event.id = listed.event_id
    left join webhook_queue as queue on queue.delivery_id = listed.id
    cross join lateral (
      select json_agg(json_build_object(
          'number', number, 'startedAt', started_at, 'durationMs', duration_ms, 'statusCode', status_code,
          'error', error, 'requestHeaders', request_headers, 'responseHeaders', response_headers,
          'responseBody', response_body
        ) order by number) as list
      from (${newestAttempts(sql)}) as newest
    ) as attempts`;
}

/**
 * Returns SQL that reads the size of each delivery of the relation `listed`. Postgres knows the lengths of texts without reading
 * them, so a page costs what it shows, not what it leaves to the next page.
 */
function sizes(sql: ISql) {
  return sql`
    select listed.*, 1000 + coalesce(octet_length(event.payload), 0) + coalesce(attempts.bytes, 0) as bytes
    from listed
    left join webhook_events as event on event.id = listed.event_id
    cross join lateral (
      select sum(500 + coalesce(octet_length(response_body), 0) + coalesce(octet_length(response_headers::text), 0)
        + octet_length(request_headers::text)) as bytes
      from (${newestAttempts(sql)}) as newest
    ) as attempts`;
}

/**
 * Returns SQL that lists the webhook deliveries of a page, newest first, and one more, which shows that another page
 * follows. Each index has the status before the id, so Postgres reads and merges the newest deliveries of every status;
 * then a page of any filter and any position costs the same.
 */
function listedDeliveries(sql: ISql, subscriptionId: string, page: Page) {
  const { status, eventType, before, limit } = page;
  const stored = status === undefined ? STORED_STATUSES : [status];
  return sql`
    select delivery.id, event_id, event_type, delivery.status, attempt_count, next_attempt_at, created_at
    from unnest(${stored}::text[]) as wanted (status)
    cross join lateral (
      select id, event_id, event_type, status, attempt_count, next_attempt_at, created_at
      from webhook_deliveries
      where subscription_id = ${subscriptionId}
      and webhook_deliveries.status = wanted.status
      ${eventType === undefined ? sql`` : sql`and event_type = ${eventType}`}
      ${before === undefined ? sql`` : sql`and id < ${before}`}
      order by id desc
      limit ${limit + 1}
    ) as delivery
    order by delivery.id desc
    limit ${limit + 1}`;
}

/** Returns SQL that reads the first due deliveries of a webhook subscription: those that a user retried, or the others. */
function firstDue(sql: ISql, subscriptionId: string, isManual: boolean) {
  return sql`
    select delivery_id, sending_until
    from webhook_queue
    where subscription_id = ${subscriptionId}
    and ${isManual ? sql`is_manual` : sql`not is_manual`}
    order by due_at
    limit ${SENDING_WINDOW}`;
}

/** Returns SQL that lists the webhook deliveries that are being sent. They are among the first that are due. */
function listedSending(sql: ISql, subscriptionId: string, page: Page) {
  const { eventType, before, limit } = page;
  return sql`
    select delivery.id, delivery.event_id, event_type, status, delivery.attempt_count, next_attempt_at, created_at
    from (
      (${firstDue(sql, subscriptionId, true)})
      union all
      (${firstDue(sql, subscriptionId, false)})
    ) as due
    join webhook_deliveries as delivery on delivery.id = due.delivery_id
    where due.sending_until > now()
    ${eventType === undefined ? sql`` : sql`and event_type = ${eventType}`}
    ${before === undefined ? sql`` : sql`and delivery.id < ${before}`}
    order by delivery.id desc
    limit ${limit + 1}`;
}

/**
 * Reads a page of a webhook subscription's deliveries that ends before it exceeds `maxBytes`, but has at least one
 * delivery.
 */
export async function listDeliveries(
  sql: ISql,
  subscriptionId: string,
  page: Page,
): Promise<readonly PageRow[]> {
  const listed =
    page.status === "delivering"
      ? listedSending(sql, subscriptionId, page)
      : listedDeliveries(sql, subscriptionId, page);
  return await sql<PageRow[]>`
    with found as (${listed}),
    numbered as (
      select sized.*,
        row_number() over newest_first as number,
        count(*) over () as found,
        sum(bytes) over newest_first as total_bytes
      from (with listed as (select * from found) ${sizes(sql)}) as sized
      window newest_first as (order by id desc)
    ),
    listed as (
      select *,
        found > count(*) over () as has_more
      from numbered
      where number = 1
      or (number <= ${page.limit} and total_bytes <= ${page.maxBytes})
    )
    select shown.*, listed.has_more
    from (${details(sql)}) as shown
    join listed on listed.id = shown.id
    order by shown.id desc`;
}

/** Reads one webhook delivery with its payload and its attempts. */
export async function getDelivery(sql: ISql, id: string): Promise<DeliveryRow | undefined> {
  const [row] = await sql<DeliveryRow[]>`
    with listed as (
      select id, event_id, event_type, status, attempt_count, next_attempt_at, created_at
      from webhook_deliveries
      where id = ${id}
    )
    ${details(sql)}`;
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
