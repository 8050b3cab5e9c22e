import type { ISql } from "@postrider/shared/postgres";
import {
  deliveryDetails,
  deliverySizes,
  FIRST_ID,
  type DeliveryRow,
  type DeliveryStatus,
} from "./delivery-details.ts";

const STORED_STATUSES = ["pending", "succeeded", "failed", "cancelled"];

/** Number of due deliveries of a webhook subscription among which the query looks for those that are being sent. */
const SENDING_WINDOW = 1000;

const LAST_ID = "ffffffff-ffff-ffff-ffff-ffffffffffff";

/** Maximum time between the position of a page and its deliveries for which they are found in few partitions. */
const NEAR_MS = 36 * 3_600_000;

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

/** Returns the smallest id of a webhook delivery or event `NEAR_MS` before the position of a page. */
function nearIdOf(before: string | undefined): string {
  const at = before === undefined ? Date.now() : parseInt(before.replace("-", "").slice(0, 12), 16);
  const time = Math.max(0, at - NEAR_MS)
    .toString(16)
    .padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}${FIRST_ID.slice(13)}`;
}

/**
 * Returns SQL that lists the webhook deliveries of a page, newest first, and one more, which shows that another page
 * follows. Each index has the status before the id, so Postgres reads and merges the newest deliveries of every status;
 * then a page of any filter and any position costs the same.
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
 * delivery. Most pages lie within a day or two, so these days are read first: a statement that reads every partition costs
 * several times as much.
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

/** Returns the query of a page of webhook deliveries whose ids are not smaller than `since`. */
export function deliveriesSince(sql: ISql, subscriptionId: string, page: Page, since: string) {
  const found =
    page.status === "delivering"
      ? listedSending(sql, subscriptionId, page)
      : listedDeliveries(sql, subscriptionId, page, since);
  return sql<PageRow[]>`
    with found as (${found}),
    numbered as (
      select id,
        row_number() over newest_first as number,
        count(*) over () as found_count,
        sum(bytes) over newest_first as total_bytes
      from (${deliverySizes(sql, since)}) as sized
      window newest_first as (order by id desc)
    ),
    fitting as (
      select id, found_count > count(*) over () as has_more
      from numbered
      where number = 1
      or (number <= ${page.limit} and total_bytes <= ${page.maxBytes})
    ),
    listed as (
      select found.id, event_id, event_type, status, attempt_count, next_attempt_at, created_at
      from found
      join fitting on fitting.id = found.id
    )
    select shown.id, event_id, event_type, status, attempt_count, next_attempt_at, created_at, payload, attempts,
      fitting.has_more
    from (${deliveryDetails(sql, since)}) as shown
    join fitting on fitting.id = shown.id
    order by shown.id desc`;
}
