import type { ISql } from "@postrider/shared/postgres";
import { isSilent } from "#src/db/stopped-workspaces.ts";
import type { Pace } from "#src/webhooks/domain/receiver-state.ts";
import { leaseColumns, type LeaseRow } from "./leases.ts";

export interface LeaseClaim {
  readonly owner: string;
  readonly leaseMs: number;
  /** Limits per speed of the receivers, so that slow ones do not keep the others out. */
  readonly limits: Readonly<Record<Pace, number>>;
}

/** For a query in which the table `webhook_leases` has the alias `l`. */
function isFreeAndDue(sql: ISql) {
  return sql`
    l.wake_at <= now() and l.wake_at < 'infinity' and l.lease_until <= now()
    and not ${isSilent(sql, sql`l.workspace_id`)}`;
}

/** SQL: whether a subscription without a holder has due deliveries. */
export function isSubscriptionDue(sql: ISql) {
  return sql`exists (select from webhook_leases l where ${isFreeAndDue(sql)})`;
}

/** Maximum number of due subscriptions of one pace that a claim considers, to bound its time. */
const MAX_DUE = 1_000;

/**
 * Locks subscriptions that have due deliveries and no holder: those of each workspace in turn, and
 * the longest waiting first. Those that another transaction has locked are skipped, so that
 * processes never wait for each other. The conditions are checked again under the lock.
 */
function dueSubscriptions(sql: ISql, pace: Pace, limit: number) {
  return sql`
    select l.subscription_id
    from (
      select subscription_id, wake_at, row_number() over (partition by workspace_id order by wake_at) as turn
      from (
        select subscription_id, workspace_id, wake_at
        from webhook_leases l
        where pace = ${pace}
        and ${isFreeAndDue(sql)}
        order by wake_at
        limit ${limit === 0 ? 0 : MAX_DUE}
      ) as first
    ) as due
    join webhook_leases l on l.subscription_id = due.subscription_id
    where ${isFreeAndDue(sql)}
    order by due.turn, due.wake_at
    limit ${limit}
    for no key update of l skip locked`;
}

/** Takes the leases of subscriptions with due deliveries, of each pace in turn. */
export async function claimLeases(
  sql: ISql,
  { owner, leaseMs, limits }: LeaseClaim,
): Promise<readonly LeaseRow[]> {
  return await sql<LeaseRow[]>`
    with fast as materialized (${dueSubscriptions(sql, "fast", limits.fast)}),
    unknown as materialized (${dueSubscriptions(sql, "new", limits.new)}),
    slow as materialized (${dueSubscriptions(sql, "slow", limits.slow)}),
    due as (
      select subscription_id from fast
      union all
      select subscription_id from unknown
      union all
      select subscription_id from slow
    )
    update webhook_leases l
    set owner = ${owner},
      lease_until = now() + ${leaseMs} * interval '1 millisecond'
    from due
    where l.subscription_id = due.subscription_id
    returning ${leaseColumns(sql)}`;
}
