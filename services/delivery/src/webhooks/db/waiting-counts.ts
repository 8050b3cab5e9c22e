import type { ISql } from "@postrider/shared/postgres";

export interface WaitingCount {
  readonly workspaceId: string;
  /** Address of the webhook subscription. */
  readonly url: string;
  readonly count: number;
}

/**
 * Counts the waiting deliveries of the webhook subscriptions of some workspaces, also of revoked ones. At most `limit`
 * deliveries of each workspace are counted, so the cost has a bound.
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
        from webhook_lanes as lane
        cross join lateral (
          select subscription_id
          from webhook_deliveries
          where subscription_id = lane.subscription_id
          and status = 'pending'
        ) as delivery
        where lane.workspace_id = workspace.id
        limit ${limit}
      ) as counted
      group by subscription_id
    ) as waiting
    join webhook_subscriptions as subscription on subscription.id = waiting.subscription_id`;
}
