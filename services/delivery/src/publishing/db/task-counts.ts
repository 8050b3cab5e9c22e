import type { ISql } from "@postrider/shared/postgres";
import { heldPlatforms } from "./platform-breakers.ts";

/**
 * For operators. `due`: also waiting; `paused`: by an operator; `held`: until the platform answers;
 * `gated`: by a rate limit or failures of the account; `unknown`: sent, without an outcome.
 */
export const TASK_STATES = ["due", "paused", "held", "gated", "working", "unknown"] as const;

export interface TaskCount {
  readonly platform: string;
  readonly state: (typeof TASK_STATES)[number];
  readonly count: number;
  /** Of the oldest claimable task. */
  readonly claimableSince: Date | null;
}

/**
 * Not claimable: paused, held or gated tasks, and those that wait for their account or for another
 * generation that may be visible. One that only waits for a full platform or workspace is
 * claimable.
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
            or workspace_id::text in (select key from pauses where kind in ('workspace', 'deletion', 'move'))
            or platform in (select key from pauses where kind = 'platform') then 'paused'
          when platform in (${heldPlatforms(sql)}) then 'held'
          when account_id in (select account_id from account_breakers where not_before > now()) then 'gated'
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
