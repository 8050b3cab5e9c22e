import type { ISql, TransactionSql } from "@postrider/shared/postgres";
import { isSilent } from "#src/db/stopped-workspaces.ts";
import type { Pace } from "#src/webhooks/domain/receiver-state.ts";

export interface LeaseRow {
  readonly subscriptionId: string;
  readonly workspaceId: string;
  readonly pace: Pace;
  readonly unansweredInRow: number;
  /** How long nothing may be sent; null when deliveries may be sent. */
  readonly blockedForMs: number | null;
  /** How long every attempt has failed; null after a success. */
  readonly failingForMs: number | null;
}

/** For a query in which the table `webhook_leases` has the alias `l`. */
export function leaseColumns(sql: ISql) {
  return sql`
    l.subscription_id, l.workspace_id, l.pace, l.unanswered_in_row,
    case
      when l.blocked_until > now() then (extract(epoch from l.blocked_until - now()) * 1000)::float8
    end as blocked_for_ms,
    (extract(epoch from now() - l.failing_since) * 1000)::float8 as failing_for_ms`;
}

export async function listLeases(
  sql: ISql,
  subscriptionIds: readonly string[],
): Promise<readonly LeaseRow[]> {
  return await sql<LeaseRow[]>`
    select ${leaseColumns(sql)}
    from webhook_leases l
    where l.subscription_id = any(${subscriptionIds as string[]}::uuid[])`;
}

/**
 * Renews leases, and returns the subscriptions whose leases the process still holds. Those of a
 * stopped workspace end, so that nothing more is sent.
 */
export async function renewLeases(
  sql: ISql,
  lease: { readonly owner: string; readonly leaseMs: number },
  subscriptionIds: readonly string[],
): Promise<readonly string[]> {
  if (subscriptionIds.length === 0) return [];
  const rows = await sql<{ subscriptionId: string }[]>`
    with leased as materialized (
      select subscription_id
      from webhook_leases
      where subscription_id = any(${subscriptionIds as string[]}::uuid[])
      and owner = ${lease.owner}
      and not ${isSilent(sql, sql`workspace_id`)}
      order by subscription_id
      for no key update
    )
    update webhook_leases l
    set lease_until = now() + ${lease.leaseMs} * interval '1 millisecond'
    from leased
    where l.subscription_id = leased.subscription_id
    returning l.subscription_id`;
  return rows.map((row) => row.subscriptionId);
}

export interface ReleasedLease {
  readonly subscriptionId: string;
  readonly pace: Pace;
  /**
   * How long nothing is sent, not even a delivery that a user retries. Default: until one is due.
   */
  readonly blockMs?: number;
  /**
   * How long no process may take the released lease, so that the old and the new holder together do
   * not exceed the maximum rate. The subscriptions that are due by then come first. Default: 0.
   */
  readonly restMs?: number;
}

/** Twice the maximum concurrency: an earlier and a later holder can be sending together. */
const MAX_SENDING = 64;

/** The first due time of those deliveries that a user asked for, and of all others. */
function nextTimes(sql: ISql, leases: readonly ReleasedLease[]) {
  const rows = leases.map(({ subscriptionId, pace, blockMs = null, restMs = 0 }) => ({
    subscription_id: subscriptionId,
    pace,
    block_ms: blockMs,
    rest_ms: restMs,
  }));
  return sql`
    select r.subscription_id, r.pace,
      case when r.rest_ms > 0 then now() + r.rest_ms * interval '1 millisecond' end as rest_until,
      greatest(b.blocked_until, now() + r.block_ms * interval '1 millisecond') as blocked_until,
      (
        select greatest(min(greatest(due_at, sending_until)), now() + r.block_ms * interval '1 millisecond')
        from webhook_queue q
        where q.subscription_id = r.subscription_id
        and q.is_manual
        having count(*) > 0
      ) as manual_at,
      (
        select min(greatest(due_at, sending_until))
        from (
          select due_at, sending_until
          from webhook_queue q
          where q.subscription_id = r.subscription_id
          and not q.is_manual
          order by due_at
          limit ${MAX_SENDING + 1}
        ) as first
      ) as due_at
    from jsonb_to_recordset(${sql.json(rows)})
      as r(subscription_id uuid, pace text, block_ms float8, rest_ms float8)
    join webhook_leases b on b.subscription_id = r.subscription_id`;
}

/**
 * Releases leases, and stores when each has to be taken next: when its first delivery is due and
 * may be sent; never while the subscription is not active.
 */
export async function releaseLeases(
  tx: TransactionSql,
  owner: string,
  leases: readonly ReleasedLease[],
): Promise<void> {
  // A transaction that adds a delivery or resumes a webhook subscription locks the subscription's
  // row in `webhook_leases` too. If that transaction was first, the second statement here sees its
  // change. If it comes later, it sets an earlier time itself.
  const locked = await tx<{ subscriptionId: string }[]>`
    select subscription_id
    from webhook_leases
    where subscription_id = any(${leases.map((lease) => lease.subscriptionId)}::uuid[])
    and owner = ${owner}
    order by subscription_id
    for no key update`;
  if (locked.length === 0) return;
  await tx`
    update webhook_leases l
    set owner = null,
      lease_until = coalesce(r.rest_until, '-infinity'),
      pace = r.pace,
      blocked_until = r.blocked_until,
      wake_at = case
        when s.status <> 'active' then 'infinity'
        else greatest(r.rest_until, least(
          coalesce(r.manual_at, 'infinity'),
          greatest(coalesce(r.due_at, 'infinity'), r.blocked_until)
        ))
      end
    from (${nextTimes(tx, leases)}) as r
    join webhook_subscriptions s on s.id = r.subscription_id
    where l.subscription_id = r.subscription_id
    and l.owner = ${owner}`;
}

/**
 * Makes the dispatcher look at a resumed or moved subscription now, and forgets pauses and
 * failures.
 */
export async function resetReceiver(tx: TransactionSql, subscriptionId: string): Promise<void> {
  await tx`
    update webhook_leases
    set wake_at = now(),
      blocked_until = '-infinity',
      unanswered_in_row = 0,
      failing_since = null
    where subscription_id = ${subscriptionId}`;
}

/**
 * Makes the dispatcher look at subscriptions now. The rows are locked in the order of the ids, so
 * that two transactions never deadlock. A row is updated even if its time has passed: a dispatcher
 * that has just read the queue without the new deliveries then waits for this transaction and
 * cannot overwrite the time.
 */
export async function wakeSubscriptions(
  tx: TransactionSql,
  subscriptionIds: readonly string[],
): Promise<void> {
  await tx`
    update webhook_leases
    set wake_at = least(wake_at, now())
    where subscription_id in (
      select subscription_id
      from webhook_leases
      where subscription_id = any(${[...subscriptionIds]}::uuid[])
      order by subscription_id
      for no key update
    )`;
}
