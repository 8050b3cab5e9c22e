import type { ISql } from "@postrider/shared/postgres";
import type { Attempt } from "#src/webhooks/domain/attempt.ts";
import type { DeliveryDecision } from "#src/webhooks/domain/receiver-state.ts";
import { appendUsage, attemptBytes } from "./usage.ts";

/** An attempt that has ended, and what follows for its delivery. */
export interface AttemptResult {
  readonly deliveryId: string;
  readonly attempt: Attempt;
  readonly decision: DeliveryDecision;
}

/** The dispatcher's state of a subscription, relative to the time at which it is stored. */
export interface ReceiverResult {
  readonly subscriptionId: string;
  /** Version of the subscription with which the attempts were sent that led to this state. */
  readonly version: number;
  readonly unansweredInRow: number;
  /** How long nothing may be sent; null when deliveries may be sent. */
  readonly blockedForMs: number | null;
  /** How long every attempt has failed; null after a success. */
  readonly failingForMs: number | null;
}

const STATUS = { succeeded: "succeeded", failed: "failed", retry: "pending" } as const;

function toResultRow({ deliveryId, attempt, decision }: AttemptResult) {
  return {
    delivery_id: deliveryId,
    started_at: attempt.startedAt.toISOString(),
    duration_ms: attempt.durationMs,
    status_code: attempt.statusCode,
    error: attempt.error,
    request_headers: attempt.requestHeaders,
    response_headers: attempt.responseHeaders,
    response_body: attempt.responseBody,
    status: STATUS[decision.kind],
    delay_ms: decision.kind === "retry" ? decision.delayMs : null,
  };
}

function toReceiverRow(lease: ReceiverResult) {
  return {
    subscription_id: lease.subscriptionId,
    version: lease.version,
    unanswered_in_row: lease.unansweredInRow,
    blocked_ms: lease.blockedForMs,
    failing_ms: lease.failingForMs,
  };
}

/**
 * Stores the state of the subscriptions whose leases the process still holds and that nothing has
 * changed since the attempts began: a person who resumed one has reset its state.
 */
function storeReceivers(sql: ISql, owner: string, leases: readonly ReceiverResult[]) {
  // The rows are in the order of their ids, so that two batches of this process cannot deadlock.
  const rows = leases
    .map(toReceiverRow)
    .toSorted((a, b) => (a.subscription_id < b.subscription_id ? -1 : 1));
  return sql`
    update webhook_leases l
    set unanswered_in_row = r.unanswered_in_row,
      blocked_until = coalesce(now() + r.blocked_ms * interval '1 millisecond', '-infinity'),
      failing_since = now() - r.failing_ms * interval '1 millisecond'
    from jsonb_to_recordset(${sql.json(rows)})
      as r(subscription_id uuid, version bigint, unanswered_in_row int, blocked_ms float8, failing_ms float8)
    join webhook_subscriptions s on s.id = r.subscription_id and s.version = r.version
    where l.subscription_id = r.subscription_id
    and l.owner = ${owner}`;
}

/** Stores in the queue when webhook deliveries that were not accepted are attempted again. */
function requeue(sql: ISql) {
  return sql`
    update webhook_queue q
    set due_at = d.next_attempt_at,
      attempt_count = d.attempt_count,
      sending_until = '-infinity',
      is_manual = false
    from delivery d
    where q.delivery_id = d.id
    and d.status = 'pending'`;
}

/**
 * Whether the attempt of row `r`, whose delivery has an id from `first` to `last`, is unrecorded.
 */
function isUnrecorded(sql: ISql, first: string, last: string) {
  return sql`
    not exists (
      select 1
      from webhook_attempts a
      where a.delivery_id = r.delivery_id
      and a.delivery_id between ${first} and ${last}
      and a.started_at = r.started_at
    )`;
}

/**
 * Records webhook attempts, what follows for their deliveries, and the state of their
 * subscriptions. An attempt of a delivery that was cancelled meanwhile is recorded as well; of a
 * delivery that no longer exists, only the row in the queue is removed. An attempt that is recorded
 * already changes nothing, so the call can be repeated when the answer of the database was lost.
 *
 * @param results At least one, of different deliveries.
 */
export async function recordAttempts(
  sql: ISql,
  owner: string,
  results: readonly AttemptResult[],
  leases: readonly ReceiverResult[],
): Promise<void> {
  const rows = results
    .map(toResultRow)
    .toSorted((a, b) => (a.delivery_id < b.delivery_id ? -1 : 1));
  // The conditions on the first and the last id make Postgres read only the partitions between
  // them.
  const [first, last] = [rows[0]?.delivery_id ?? "", rows.at(-1)?.delivery_id ?? ""];
  await sql`
    with result as materialized (
      select *
      from jsonb_to_recordset(${sql.json(rows)}) as r(
        delivery_id uuid, started_at timestamptz, duration_ms int, status_code int, error text,
        request_headers jsonb, response_headers jsonb, response_body text, status text, delay_ms float8
      )
      where ${isUnrecorded(sql, first, last)}
    ),
    delivery as (
      update webhook_deliveries d
      set status = case when d.status = 'pending' or r.status = 'succeeded' then r.status else d.status end,
        attempt_count = d.attempt_count + 1,
        next_attempt_at = case when d.status = 'pending' then now() + r.delay_ms * interval '1 millisecond' end
      from result r
      where d.id = r.delivery_id
      and d.id between ${first} and ${last}
      returning d.id, d.workspace_id, d.attempt_count, d.status, d.next_attempt_at
    ),
    attempt as (
      insert into webhook_attempts (
        delivery_id, number, workspace_id, started_at, duration_ms, status_code, error,
        request_headers, response_headers, response_body
      )
      select d.id, d.attempt_count, d.workspace_id, r.started_at, r.duration_ms, r.status_code, r.error,
        r.request_headers, r.response_headers, r.response_body
      from result r
      join delivery d on d.id = r.delivery_id
      returning workspace_id, delivery_id as id, ${attemptBytes(sql)} as bytes
    ),
    usage as (${appendUsage(sql, "attempt")}),
    lease as (${storeReceivers(sql, owner, leases)}),
    waiting as (${requeue(sql)})
    delete from webhook_queue q
    using result r
    left join delivery d on d.id = r.delivery_id
    where q.delivery_id = r.delivery_id
    and d.status is distinct from 'pending'`;
}
