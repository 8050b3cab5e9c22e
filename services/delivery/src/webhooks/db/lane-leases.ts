import type { ISql, TransactionSql } from "@postrider/shared/postgres";
import type { Pace } from "#src/webhooks/domain/lane-pace.ts";

/** A webhook subscription whose lease this process has just taken. */
export interface LaneRow {
  readonly subscriptionId: string;
  readonly workspaceId: string;
  readonly pace: Pace;
  readonly unansweredInRow: number;
  /** Milliseconds for which nothing may be sent to the webhook subscription; null when deliveries may be sent. */
  readonly blockedForMs: number | null;
  /** Milliseconds since which every attempt of the webhook subscription has failed; null after a success. */
  readonly failingForMs: number | null;
}

/** The columns of a `LaneRow`, for a query in which the table `webhook_lanes` has the alias `l`. */
function laneColumns(sql: ISql) {
  return sql`
    l.subscription_id, l.workspace_id, l.pace, l.unanswered_in_row,
    case
      when l.blocked_until > now() then (extract(epoch from l.blocked_until - now()) * 1000)::float8
    end as blocked_for_ms,
    (extract(epoch from now() - l.failing_since) * 1000)::float8 as failing_for_ms`;
}

export interface LaneClaim {
  readonly owner: string;
  readonly leaseMs: number;
  /**
   * Maximum number of webhook subscriptions that a process leases, by the speed of their receivers, so that slow
   * receivers do not keep the others out.
   */
  readonly limits: Readonly<Record<Pace, number>>;
}

/**
 * Locks webhook subscriptions that have due deliveries and whose lease no process holds, the longest waiting first. A
 * subscription that another transaction has locked is skipped, so that processes never wait for each other. The
 * conditions are checked again under the lock.
 */
function dueLanes(sql: ISql, pace: Pace, limit: number) {
  return sql`
    select subscription_id
    from webhook_lanes
    where pace = ${pace}
    and wake_at <= now()
    and wake_at < 'infinity'
    and lease_until <= now()
    order by wake_at
    limit ${limit}
    for no key update skip locked`;
}

/**
 * Takes the leases of webhook subscriptions that have due deliveries and whose lease no process holds. Of each receiver
 * speed, the subscriptions that have waited for longest come first.
 */
export async function claimLanes(
  sql: ISql,
  { owner, leaseMs, limits }: LaneClaim,
): Promise<readonly LaneRow[]> {
  return await sql<LaneRow[]>`
    with fast as materialized (${dueLanes(sql, "fast", limits.fast)}),
    unknown as materialized (${dueLanes(sql, "new", limits.new)}),
    slow as materialized (${dueLanes(sql, "slow", limits.slow)}),
    due as (
      select subscription_id from fast
      union all
      select subscription_id from unknown
      union all
      select subscription_id from slow
    )
    update webhook_lanes l
    set owner = ${owner},
      lease_until = now() + ${leaseMs} * interval '1 millisecond'
    from due
    where l.subscription_id = due.subscription_id
    returning ${laneColumns(sql)}`;
}

/** Reads webhook subscriptions again whose leases this process holds. */
export async function listLanes(
  sql: ISql,
  subscriptionIds: readonly string[],
): Promise<readonly LaneRow[]> {
  return await sql<LaneRow[]>`
    select ${laneColumns(sql)}
    from webhook_lanes l
    where l.subscription_id = any(${subscriptionIds as string[]}::uuid[])`;
}

/** Renews the leases of webhook subscriptions, and returns the subscriptions whose leases the process still holds. */
export async function renewLanes(
  sql: ISql,
  lease: { readonly owner: string; readonly leaseMs: number },
  subscriptionIds: readonly string[],
): Promise<readonly string[]> {
  if (subscriptionIds.length === 0) return [];
  const rows = await sql<{ subscriptionId: string }[]>`
    with held as materialized (
      select subscription_id
      from webhook_lanes
      where subscription_id = any(${subscriptionIds as string[]}::uuid[])
      and owner = ${lease.owner}
      order by subscription_id
      for no key update
    )
    update webhook_lanes l
    set lease_until = now() + ${lease.leaseMs} * interval '1 millisecond'
    from held
    where l.subscription_id = held.subscription_id
    returning l.subscription_id`;
  return rows.map((row) => row.subscriptionId);
}

export interface ReleasedLane {
  readonly subscriptionId: string;
  readonly pace: Pace;
  /**
   * Milliseconds for which nothing is sent to the webhook subscription, not even a delivery that a user retries. Default: until
   * the next delivery is due.
   */
  readonly blockMs?: number;
  /**
   * Milliseconds for which no process may take the released lease, so that the old and the new holder together do not exceed
   * the maximum rate of the subscription. Default: 0.
   */
  readonly restMs?: number;
}

/**
 * Maximum number of deliveries of a webhook subscription that an earlier and a later holder of its lease can be sending
 * together: twice the maximum concurrency.
 */
const MAX_SENDING = 64;

/**
 * When the first deliveries of webhook subscriptions are due: the first one that a user asked for, and the first of all
 * others.
 */
function nextTimes(sql: ISql, lanes: readonly ReleasedLane[]) {
  const rows = lanes.map(({ subscriptionId, pace, blockMs = null, restMs = 0 }) => ({
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
    join webhook_lanes b on b.subscription_id = r.subscription_id`;
}

/**
 * Releases the leases of webhook subscriptions, and stores when each has to be leased next: when its first delivery is
 * due and may be sent; never while the subscription is not active.
 */
export async function releaseLanes(
  tx: TransactionSql,
  owner: string,
  lanes: readonly ReleasedLane[],
): Promise<void> {
  // A transaction that adds a delivery or resumes a webhook subscription locks the subscription's row in
  // `webhook_lanes` too. If that transaction was first, the second statement here sees its change. If it comes later,
  // it sets an earlier time itself.
  const locked = await tx<{ subscriptionId: string }[]>`
    select subscription_id
    from webhook_lanes
    where subscription_id = any(${lanes.map((lane) => lane.subscriptionId)}::uuid[])
    and owner = ${owner}
    order by subscription_id
    for no key update`;
  if (locked.length === 0) return;
  await tx`
    update webhook_lanes l
    set owner = null,
      lease_until = coalesce(r.rest_until, '-infinity'),
      pace = r.pace,
      blocked_until = r.blocked_until,
      wake_at = case
        when s.status <> 'active' then 'infinity'
        else least(
          coalesce(r.manual_at, 'infinity'),
          greatest(coalesce(r.due_at, 'infinity'), r.blocked_until)
        )
      end
    from (${nextTimes(tx, lanes)}) as r
    join webhook_subscriptions s on s.id = r.subscription_id
    where l.subscription_id = r.subscription_id
    and l.owner = ${owner}`;
}
