import type { ISql } from "@postrider/shared/postgres";
import type { ClaimPlan } from "#src/webhooks/domain/claim-plan.ts";

export interface QueuedDelivery {
  readonly deliveryId: string;
  readonly subscriptionId: string;
  readonly eventId: string;
  readonly attemptCount: number;
  /** How long the webhook delivery was due before it was claimed. */
  readonly latenessMs: number;
  readonly payload: string;
  /** Request id and trace header of the request that caused the webhook event. */
  readonly cause: Readonly<Record<string, string>>;
}

export interface ClaimedDeliveries {
  readonly deliveries: readonly QueuedDelivery[];
  /** Deliveries whose event no longer exists, because it is older than the retention time. */
  readonly expiredIds: readonly string[];
  /** Subscriptions that changed since the process loaded them. */
  readonly changedIds: readonly string[];
}

interface ClaimRow {
  readonly deliveryId: string | null;
  readonly subscriptionId: string;
  readonly eventId: string;
  readonly attemptCount: number;
  readonly latenessMs: number;
  readonly payload: string | null;
  readonly cause: Readonly<Record<string, string>> | null;
}

function toPlanRows({ leases }: ClaimPlan) {
  return leases.map((lease) => ({
    subscription_id: lease.subscriptionId,
    version: lease.version,
    pace: lease.pace,
    free: lease.free,
    only_manual: lease.onlyManual,
    workspace_running: lease.workspaceRunning,
    workspace_free: lease.workspaceFree,
    workspace_pace_free: lease.workspacePaceFree,
  }));
}

/**
 * The subscriptions of the plan whose leases this process holds, and the unchanged ones of them.
 */
function askedSubscriptions(sql: ISql, plan: ClaimPlan, owner: string) {
  return sql`
    leased as materialized (
      select p.*, l.workspace_id, s.status = 'active' and s.version = p.version as is_unchanged
      from jsonb_to_recordset(${sql.json(toPlanRows(plan))}) as p(
        subscription_id uuid, version bigint, pace text, free int, only_manual bool,
        workspace_running int, workspace_free int, workspace_pace_free int
      )
      join webhook_leases l on l.subscription_id = p.subscription_id
      join webhook_subscriptions s on s.id = p.subscription_id
      where l.owner = ${owner}
      and l.lease_until > now()
    ),
    asked as (
      select *
      from leased
      where is_unchanged
    )`;
}

/** SQL for the due deliveries of one subscription, whose row is `a`. */
function dueDeliveries(sql: ISql, isManual: boolean, mayTakeOver: boolean) {
  const isFree = mayTakeOver ? sql`q.sending_until <= now()` : sql`q.sending_until = '-infinity'`;
  return sql`
    select delivery_id, due_at
    from webhook_queue q
    where q.subscription_id = a.subscription_id
    and q.due_at <= now()
    and ${isFree}
    and ${isManual ? sql`q.is_manual` : sql`not q.is_manual and not a.only_manual`}
    order by q.due_at
    limit a.free`;
}

/**
 * SQL that chooses due webhook deliveries: first those that a user asked for, then the oldest. The
 * workspaces take turns, and so do the subscriptions of each workspace. Each step applies a limit
 * of the claim plan and numbers the deliveries that are left for the next step.
 */
function chosenDeliveries(
  sql: ISql,
  { total, slow, new: unknown }: ClaimPlan,
  mayTakeOver: boolean,
) {
  return sql`
    waiting as (
      select a.*, d.delivery_id, d.due_at,
        row_number() over (partition by a.subscription_id order by d.priority, d.due_at) as turn
      from asked a
      cross join lateral (
        select delivery_id, due_at, 0 as priority from (${dueDeliveries(sql, true, mayTakeOver)}) as m
        union all
        select delivery_id, due_at, 1 from (${dueDeliveries(sql, false, mayTakeOver)}) as o
      ) as d
    ),
    in_subscription as (
      select *,
        row_number() over (partition by workspace_id, pace order by turn, due_at) as pace_turn
      from waiting
      where turn <= free
    ),
    in_workspace as (
      select *, row_number() over (partition by workspace_id order by turn, due_at) as place
      from in_subscription
      where pace_turn <= workspace_pace_free
    ),
    in_pace as (
      select *,
        row_number() over (partition by pace order by place + workspace_running, due_at) as pace_place
      from in_workspace
      where place <= workspace_free
    ),
    chosen as (
      select delivery_id
      from in_pace
      where pace_place <= case pace when 'slow' then ${slow}::int when 'new' then ${unknown}::int else ${total}::int end
      order by place + workspace_running, due_at
      limit ${total}
    )`;
}

interface SendingLease {
  readonly owner: string;
  /** How long no other process sends them: the maximum duration of an attempt and its recording. */
  readonly sendingMs: number;
  /** Whether to claim deliveries that another process did not record in time. Default: true. */
  readonly mayTakeOver?: boolean;
}

/** Claims due deliveries of all subscriptions whose leases this process holds, in one statement. */
export async function claimDeliveries(
  sql: ISql,
  plan: ClaimPlan,
  { owner, sendingMs, mayTakeOver = true }: SendingLease,
): Promise<ClaimedDeliveries> {
  // A queued webhook delivery that another process has just claimed is not claimed again, because
  // Postgres checks the condition again under the row's lock.
  const rows = await sql<ClaimRow[]>`
    with ${askedSubscriptions(sql, plan, owner)},
    ${chosenDeliveries(sql, plan, mayTakeOver)},
    claimed as (
      update webhook_queue q
      set sending_until = now() + ${sendingMs} * interval '1 millisecond'
      from chosen c
      where q.delivery_id = c.delivery_id
      and q.sending_until <= now()
      returning q.delivery_id, q.subscription_id, q.event_id, q.attempt_count,
        (extract(epoch from now() - q.due_at) * 1000)::float8 as lateness_ms
    )
    select c.delivery_id, c.subscription_id, c.event_id, c.attempt_count, c.lateness_ms, e.payload, e.cause
    from claimed c
    left join webhook_events e on e.id = c.event_id
    union all
    select null, subscription_id, null, null, null, null, null
    from leased
    where not is_unchanged`;
  return toClaimed(rows);
}

function toClaimed(rows: readonly ClaimRow[]): ClaimedDeliveries {
  const deliveries: QueuedDelivery[] = [];
  const expiredIds: string[] = [];
  const changedIds: string[] = [];
  for (const row of rows) {
    const { deliveryId, payload } = row;
    if (deliveryId === null) changedIds.push(row.subscriptionId);
    else if (payload === null) expiredIds.push(deliveryId);
    else deliveries.push({ ...row, deliveryId, payload, cause: row.cause ?? {} });
  }
  return { deliveries, expiredIds, changedIds };
}
