import type { ISql } from "@postrider/shared/postgres";

/**
 * What tasks that have not come to an end are at: waiting though they are due, held back by an operator's pause or by what
 * their account has to wait for, in work, or called without a known outcome.
 */
export const TASK_STATES = ["due", "paused", "gated", "working", "unknown"] as const;

/** How much of a platform is at one state. */
export interface TaskCount {
  readonly platform: string;
  readonly state: (typeof TASK_STATES)[number];
  readonly count: number;
  /** Since when the first of those waits that a claim would take; null when there is none. */
  readonly claimableSince: Date | null;
}

/**
 * Counts the tasks that have not come to an end; finished ones are not in the indexes that are read. A task is claimable
 * when `claimTasks` leaves it out for nothing that is its account's own: a pause, a gate, other work of the account, or
 * another generation that may be visible. One that a platform or a workspace with its share in work keeps waiting is.
 */
export async function countTasks(sql: ISql): Promise<readonly TaskCount[]> {
  return await sql<TaskCount[]>`
    with under_way as materialized (
      select target_id, account_id, status <> 'unknown' and wake_at > now() as is_live
      from publish_tasks
      where status in ('working', 'calling', 'unknown', 'reconciling')
    )
    select platform, state, count(*) as count,
      case when state = 'due' then min(wake_at) filter (where not is_behind) end as claimable_since
    from (
      select platform, wake_at,
        case
          when status in ('working', 'calling') then 'working'
          when status in ('unknown', 'reconciling') then 'unknown'
          when account_id::text in (select key from pauses where kind = 'account')
            or workspace_id::text in (select key from pauses where kind = 'workspace')
            or platform in (select key from pauses where kind = 'platform') then 'paused'
          when account_id in (select account_id from account_gates where not_before > now()) then 'gated'
          else 'due'
        end as state,
        account_id in (select account_id from under_way where is_live)
          or target_id in (select target_id from under_way) as is_behind
      from publish_tasks
      where status in ('queued', 'working', 'calling', 'unknown', 'reconciling')
      and (status <> 'queued' or wake_at <= now())
    ) as t
    group by platform, state`;
}
