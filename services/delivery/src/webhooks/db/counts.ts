import type { ISql } from "@postrider/shared/postgres";

/** Webhook deliveries are counted up to this number, so that counting stays cheap. */
const MAX_COUNT = 100_000;

export interface WebhookCounts {
  readonly queued: number;
  /** Webhook deliveries that are due, of active subscriptions without a pause, up to 100,000. */
  readonly due: number;
  readonly oldestDueAt: Date | null;
  /** Events whose payload is not written yet, up to 100,000. */
  readonly unwritten: number;
  /** When the oldest event happened whose payload is not written yet. */
  readonly oldestUnwrittenAt: Date | null;
  readonly openBreakers: number;
  readonly disabled: number;
}

/**
 * Counts the waiting webhook deliveries, the unwritten payloads, and the webhook subscriptions to
 * which nothing can be sent, in the whole installation.
 *
 * @param openAfter Number of attempts in a row without a response after which a subscription gets
 *   only one attempt at a time.
 */
export async function countWebhooks(sql: ISql, openAfter: number): Promise<WebhookCounts> {
  const rows = await sql<WebhookCounts[]>`
    select
      (select count(*)::int from (select 1 from webhook_queue limit ${MAX_COUNT}) as q) as queued,
      due.count as due,
      due.oldest_at as oldest_due_at,
      (select count(*)::int from (select 1 from webhook_compositions limit ${MAX_COUNT}) as c) as unwritten,
      (select occurred_at from webhook_compositions order by event_id limit 1) as oldest_unwritten_at,
      (select count(*)::int from webhook_leases where unanswered_in_row >= ${openAfter}) as open_breakers,
      (select count(*)::int from webhook_subscriptions where status = 'disabled') as disabled
    from (
      select count(*)::int as count, min(due_at) as oldest_at
      from (
        select q.due_at
        from webhook_leases l
        join webhook_subscriptions s on s.id = l.subscription_id and s.status = 'active'
        join webhook_queue q on q.subscription_id = l.subscription_id
        where l.wake_at <= now()
        and l.blocked_until <= now()
        and q.due_at <= now()
        limit ${MAX_COUNT}
      ) as q
    ) as due`;
  const [row] = rows;
  if (row === undefined) throw new Error("the count returned no row");
  return row;
}

export interface WaitingCount {
  readonly workspaceId: string;
  readonly url: string;
  readonly count: number;
}

/**
 * Counts the waiting deliveries, also of revoked subscriptions, up to `limit` of each workspace.
 */
export async function countWaiting(
  sql: ISql,
  workspaceIds: readonly string[],
  limit: number,
): Promise<readonly WaitingCount[]> {
  return await sql<WaitingCount[]>`
    select workspace.id as workspace_id, subscription.url, waiting.count
    from unnest(${[...workspaceIds]}::uuid[]) as workspace (id)
    cross join lateral (
      select subscription_id, count(*)::int as count
      from (
        select delivery.subscription_id
        from webhook_leases as lease
        cross join lateral (
          select subscription_id
          from webhook_deliveries
          where subscription_id = lease.subscription_id
          and status = 'pending'
        ) as delivery
        where lease.workspace_id = workspace.id
        limit ${limit}
      ) as counted
      group by subscription_id
    ) as waiting
    join webhook_subscriptions as subscription on subscription.id = waiting.subscription_id`;
}
