import type { ISql } from "@postrider/shared/postgres";
import type { ActionType } from "#src/engagement/domain/comment-action.ts";
import { heldUntil, isPaused } from "./queue-schedule.ts";

/**
 * The states in which operators see unfinished actions: ready (`due`), stopped by an operator's
 * pause (`paused`), waiting for a rate limit of their account (`limited`), in work (`working`), or
 * sent with an unknown outcome (`unknown`).
 */
export const ACTION_STATES = ["due", "paused", "limited", "working", "unknown"] as const;

/** Number of the unfinished actions on comments of one type in one state. */
export interface ActionCount {
  readonly type: ActionType;
  readonly state: (typeof ACTION_STATES)[number];
  readonly count: number;
  /** When the action on a comment that has been ready for longest became ready. */
  readonly since: Date;
}

/** Counts the unfinished actions on comments that do not wait for a retry. */
export async function countActions(sql: ISql): Promise<readonly ActionCount[]> {
  // Each subquery names the statuses of a partial index, so that Postgres reads that index and no
  // ended actions.
  return await sql<ActionCount[]>`
    select type, state, count(*)::int as count, min(wake_at) as since
    from (
      select a.type, a.wake_at,
        case
          when a.status = 'unknown' then 'unknown'
          when exists (select 1 from pauses where ${isPaused(sql)}) then 'paused'
          when greatest(q.not_before, ${heldUntil(sql)}) > now() then 'limited'
          else 'due'
        end as state
      from comment_action_queues q
      join comment_actions a on a.account_id = q.account_id
      where q.wake_at is not null
      and a.status in ('queued', 'working', 'unknown', 'reconciling')
      and (a.status = 'unknown' or (a.status = 'queued' and a.wake_at <= now()))
      union all
      select type, wake_at, case when status = 'reconciling' then 'unknown' else 'working' end as state
      from comment_actions
      where status in ('working', 'calling', 'reconciling')
    ) as t
    group by type, state`;
}
