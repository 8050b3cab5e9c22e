import type { ISql, TransactionSql } from "@postrider/shared/postgres";

/** Status of a delivery as the API shows it. `delivering` is a pending delivery that a process is sending now. */
export const DELIVERY_STATUSES = [
  "pending",
  "delivering",
  "succeeded",
  "failed",
  "cancelled",
] as const;

export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

const STORED_STATUSES = ["pending", "succeeded", "failed", "cancelled"];

/** Number of due deliveries of a subscription among which those that are being sent are looked for. */
const SENDING_WINDOW = 1000;

/** An attempt as the database returns it; times are RFC 3339. */
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
  /** Whether the list contains further deliveries after the last one of this page. */
  readonly hasMore: boolean;
}

interface DeliveryFilter {
  readonly status: DeliveryStatus | undefined;
  readonly eventType: string | undefined;
}

interface Page extends DeliveryFilter {
  readonly limit: number;
  /** Approximate maximum size of the page in bytes. The first delivery is on the page even if it is larger. */
  readonly maxBytes: number;
  /** Id of the delivery after which the page begins. */
  readonly before: string | undefined;
}

/**
 * Returns SQL that reads the deliveries of the relation `listed` with their payload, their attempts and their size.
 *
 * @param since No delivery and, because both ids contain the time of the event, no event has a smaller id.
 */
function details(sql: ISql, since: string) {
  return sql`
    select listed.id, listed.event_id, listed.event_type, listed.attempt_count, listed.next_attempt_at,
      listed.created_at, event.payload, coalesce(attempts.list, '[]') as attempts,
      case
        when listed.status = 'pending' and queue.sending_until > now() then 'delivering'
        else listed.status
      end as status,
      1000 + coalesce(octet_length(event.payload), 0) + coalesce(attempts.bytes, 0) as bytes
    from listed
    left join webhook_events as event on event.id = listed.event_id and event.id >= ${since}
    left join webhook_queue as queue on queue.delivery_id = listed.id
    cross join lateral (
      select json_agg(json_build_object(
          'number', number, 'startedAt', started_at, 'durationMs', duration_ms, 'statusCode', status_code,
          'error', error, 'requestHeaders', request_headers, 'responseHeaders', response_headers,
          'responseBody', response_body
        ) order by number) as list,
        sum(500 + coalesce(octet_length(response_body), 0) + coalesce(octet_length(response_headers::text), 0)
          + octet_length(request_headers::text)) as bytes
      from webhook_attempts
      where delivery_id = listed.id
      and delivery_id >= ${since}
    ) as attempts`;
}

const FIRST_ID = "00000000-0000-0000-0000-000000000000";
const LAST_ID = "ffffffff-ffff-ffff-ffff-ffffffffffff";
/** Maximum time between the position of a page and its deliveries for which they are found in few partitions. */
const NEAR_MS = 36 * 3_600_000;

/** Returns the smallest id of a delivery or event `NEAR_MS` before the position of a page. */
function nearIdOf(before: string | undefined): string {
  const at = before === undefined ? Date.now() : parseInt(before.replace("-", "").slice(0, 12), 16);
  const time = Math.max(0, at - NEAR_MS)
    .toString(16)
    .padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}${FIRST_ID.slice(13)}`;
}

/**
 * Returns SQL that lists the deliveries of a page, newest first, and one more, which shows that another page follows. Each
 * index has the status before the id, so the newest of every status are read and merged; then a page of any filter and
 * any position costs the same.
 *
 * The deliveries of a status are a range of the index, because only the right index has the order of the range. With
 * `status = …` and an order by id, Postgres reads the index on the id and searches all deliveries for a rare status.
 */
function listedDeliveries(sql: ISql, subscriptionId: string, page: Page, since: string) {
  const { status, eventType, before = LAST_ID, limit } = page;
  const stored = status === undefined ? STORED_STATUSES : [status];
  const type = eventType === undefined ? sql`` : sql`${eventType}::text,`;
  const typeColumn = eventType === undefined ? sql`` : sql`event_type,`;
  const typeOrder = eventType === undefined ? sql`` : sql`event_type desc,`;
  return sql`
    select delivery.id, event_id, event_type, delivery.status, attempt_count, next_attempt_at, created_at
    from unnest(${stored}::text[]) as wanted (status)
    cross join lateral (
      select id, event_id, event_type, status, attempt_count, next_attempt_at, created_at
      from webhook_deliveries
      where subscription_id = ${subscriptionId}
      and row(${typeColumn} webhook_deliveries.status, id) >= row(${type} wanted.status, ${since}::uuid)
      and row(${typeColumn} webhook_deliveries.status, id) < row(${type} wanted.status, ${before}::uuid)
      and id >= ${since}
      and id < ${before}
      order by ${typeOrder} webhook_deliveries.status desc, id desc
      limit ${limit + 1}
    ) as delivery
    order by delivery.id desc
    limit ${limit + 1}`;
}

/** Returns SQL that lists the deliveries that are being sent. They are among the first that are due. */
function listedSending(sql: ISql, subscriptionId: string, page: Page) {
  const { eventType, before, limit } = page;
  return sql`
    select delivery.id, delivery.event_id, event_type, status, delivery.attempt_count, next_attempt_at, created_at
    from (
      select delivery_id, sending_until
      from webhook_queue
      where subscription_id = ${subscriptionId}
      order by due_at
      limit ${SENDING_WINDOW}
    ) as due
    join webhook_deliveries as delivery on delivery.id = due.delivery_id
    where due.sending_until > now()
    ${eventType === undefined ? sql`` : sql`and event_type = ${eventType}`}
    ${before === undefined ? sql`` : sql`and delivery.id < ${before}`}
    order by delivery.id desc
    limit ${limit + 1}`;
}

/**
 * Reads a page of a subscription's deliveries that ends before it exceeds `maxBytes`, but has at least one delivery. Most pages
 * lie within a day or two, so these are read first: a statement that reads every partition costs several times as much.
 */
export async function listDeliveries(
  sql: ISql,
  subscriptionId: string,
  page: Page,
): Promise<readonly PageRow[]> {
  if (page.status === "delivering")
    return await deliveriesSince(sql, subscriptionId, page, FIRST_ID);
  const near = await deliveriesSince(sql, subscriptionId, page, nearIdOf(page.before));
  const isFull = near.at(-1)?.hasMore === true;
  return isFull ? near : await deliveriesSince(sql, subscriptionId, page, FIRST_ID);
}

/** Returns the query of a page of deliveries whose ids are not smaller than `since`. */
export function deliveriesSince(sql: ISql, subscriptionId: string, page: Page, since: string) {
  const listed =
    page.status === "delivering"
      ? listedSending(sql, subscriptionId, page)
      : listedDeliveries(sql, subscriptionId, page, since);
  return sql<PageRow[]>`
    with listed as (${listed}),
    detailed as (${details(sql, since)}),
    sized as (
      select id, event_id, event_type, status, attempt_count, next_attempt_at, created_at, payload, attempts,
        row_number() over newest_first as number,
        count(*) over () as found,
        sum(bytes) over newest_first as bytes
      from detailed
      window newest_first as (order by id desc)
    ),
    fitting as (
      select id, event_id, event_type, status, attempt_count, next_attempt_at, created_at, payload, attempts, found,
        count(*) over () as shown
      from sized
      where number = 1
      or (number <= ${page.limit} and bytes <= ${page.maxBytes})
    )
    select id, event_id, event_type, status, attempt_count, next_attempt_at, created_at, payload, attempts,
      found > shown as has_more
    from fitting
    order by id desc`;
}

/** Reads one delivery with its payload and its attempts. */
export async function getDelivery(sql: ISql, id: string): Promise<DeliveryRow | undefined> {
  const [row] = await sql<DeliveryRow[]>`
    with listed as (
      select id, event_id, event_type, status, attempt_count, next_attempt_at, created_at
      from webhook_deliveries
      where id = ${id}
    )
    ${details(sql, FIRST_ID)}`;
  return row;
}

/** Locks a delivery of a subscription. */
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

/** Makes a failed delivery due now. It continues to count its attempts. */
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
