import { NIL_ID } from "@postrider/shared/ids";
import type { ISql, TransactionSql } from "@postrider/shared/postgres";
import {
  readDetails,
  type DeliveryRow,
  type DeliveryStatus,
  type FoundDelivery,
} from "./delivery-details.ts";

const STORED_STATUSES = ["pending", "succeeded", "failed", "cancelled"];

/** Number of due deliveries of a subscription among which the query looks for those in sending. */
const SENDING_WINDOW = 1000;

/** How far back a page is searched first. Most pages lie within it, and few partitions are read. */
const NEAR_MS = 36 * 3_600_000;

/**
 * How far the id of a delivery may be ahead of this process's clock. The limit keeps Postgres from
 * planning a read of the empty partitions of the next two weeks.
 */
const MAX_CLOCK_ERROR_MS = 24 * 3_600_000;

interface Filter {
  readonly status: DeliveryStatus | undefined;
  readonly eventType: string | undefined;
}

interface Page extends Filter {
  readonly limit: number;
  /** The first delivery is on the page even if it is larger. */
  readonly maxBytes: number;
  readonly before: string | undefined;
}

/** The deliveries whose ids are not smaller than `since` and are smaller than `before`. */
interface Range {
  readonly since: string;
  readonly before: string;
  readonly limit: number;
}

function idOfTime(ms: number): string {
  const time = Math.max(0, ms).toString(16).padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}${NIL_ID.slice(13)}`;
}

function timeOfId(id: string): number {
  return parseInt(id.replace("-", "").slice(0, 12), 16);
}

/**
 * Returns the query of the newest deliveries of a range. Each index has the status before the id,
 * so Postgres reads and merges the newest deliveries of every status, and a range costs the same
 * with any filter.
 *
 * The query selects a status by a range of (status, id), because only the right index has that
 * order. With `status = …` and an order by id, Postgres would read the index on the id and search
 * all deliveries for a rare status.
 */
export function storedDeliveries(
  sql: ISql,
  subscriptionId: string,
  { status, eventType }: Filter,
  { since, before, limit }: Range,
) {
  const stored = status === undefined ? STORED_STATUSES : [status];
  const type = eventType === undefined ? sql`` : sql`${eventType}::text,`;
  const typeColumn = eventType === undefined ? sql`` : sql`event_type,`;
  const typeOrder = eventType === undefined ? sql`` : sql`event_type desc,`;
  return sql<FoundDelivery[]>`
    select delivery.id, event_id, event_type, delivery.status, attempt_count, next_attempt_at, error, created_at
    from unnest(${stored}::text[]) as wanted (status)
    cross join lateral (
      select id, event_id, event_type, status, attempt_count, next_attempt_at, error, created_at
      from webhook_deliveries
      where subscription_id = ${subscriptionId}
      and row(${typeColumn} webhook_deliveries.status, id) >= row(${type} wanted.status, ${since}::uuid)
      and row(${typeColumn} webhook_deliveries.status, id) < row(${type} wanted.status, ${before}::uuid)
      and id >= ${since}
      and id < ${before}
      order by ${typeOrder} webhook_deliveries.status desc, id desc
      limit ${limit}
    ) as delivery
    order by delivery.id desc
    limit ${limit}`;
}

/**
 * Finds the newest deliveries of a range, first in the days before its end: most pages lie within a
 * day or two, and the cost of a query is mostly that of planning the partitions that it may read.
 */
async function findStored(
  sql: ISql,
  subscriptionId: string,
  filter: Filter,
  { since, before, limit }: Range,
): Promise<readonly FoundDelivery[]> {
  const near = idOfTime(Math.min(timeOfId(before), Date.now()) - NEAR_MS);
  const newest = await storedDeliveries(sql, subscriptionId, filter, {
    since: near,
    before,
    limit,
  });
  if (newest.length === limit) return newest;
  const older = await storedDeliveries(sql, subscriptionId, filter, {
    since,
    before: near,
    limit: limit - newest.length,
  });
  return [...newest, ...older];
}

/** Reads the first due deliveries: either those that a user retried, or all others. */
function firstDue(sql: ISql, subscriptionId: string, isManual: boolean) {
  return sql`
    select delivery_id, sending_until
    from webhook_queue
    where subscription_id = ${subscriptionId}
    and ${isManual ? sql`is_manual` : sql`not is_manual`}
    order by due_at
    limit ${SENDING_WINDOW}`;
}

/** Finds the newest deliveries that are being sent, which are among those that are due first. */
async function findSending(
  sql: ISql,
  subscriptionId: string,
  { eventType }: Filter,
  { before, limit }: Range,
): Promise<readonly FoundDelivery[]> {
  return await sql<FoundDelivery[]>`
    select delivery.id, delivery.event_id, event_type, status, delivery.attempt_count, next_attempt_at, error, created_at
    from (
      (${firstDue(sql, subscriptionId, true)})
      union all
      (${firstDue(sql, subscriptionId, false)})
    ) as due
    join webhook_deliveries as delivery on delivery.id = due.delivery_id
    where due.sending_until > now()
    ${eventType === undefined ? sql`` : sql`and event_type = ${eventType}`}
    and delivery.id < ${before}
    order by delivery.id desc
    limit ${limit}`;
}

interface DeliveryPage {
  readonly deliveries: readonly DeliveryRow[];
  readonly hasMore: boolean;
}

/**
 * Reads a page of a subscription's deliveries that ends before it exceeds `maxBytes`, but has at
 * least one delivery. Each statement is planned for its given ids, so that Postgres considers only
 * the partitions of their days; a plan for arbitrary ids would read the partitions of all days.
 */
export async function listDeliveries(
  tx: TransactionSql,
  subscriptionId: string,
  page: Page,
): Promise<DeliveryPage> {
  const range = {
    since: NIL_ID,
    before: page.before ?? idOfTime(Date.now() + MAX_CLOCK_ERROR_MS),
    // One delivery beyond the page shows that another page follows.
    limit: page.limit + 1,
  };
  const find = page.status === "delivering" ? findSending : findStored;
  const [, found] = await Promise.all([
    tx`set local plan_cache_mode = force_custom_plan`,
    find(tx, subscriptionId, page, range),
  ]);
  const deliveries = await readDetails(tx, found, page);
  return { deliveries, hasMore: deliveries.length < found.length };
}
