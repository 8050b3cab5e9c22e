import type { ISql } from "@postrider/shared/postgres";
import type { ActionType } from "#src/engagement/domain/comment-action.ts";
import { isPaused } from "./queue-schedule.ts";

/**
 * The states in which operators see unfinished actions: ready (`due`), stopped by an operator's pause (`paused`), waiting for a
 * rate limit of their account (`limited`), in work (`working`), or sent with an unknown outcome (`unknown`).
 */
export const ACTION_STATES = ["due", "paused", "limited", "working", "unknown"] as const;

/** Number of the unfinished actions of one type in one state. */
export interface ActionCount {
  readonly type: ActionType;
  readonly state: (typeof ACTION_STATES)[number];
  readonly count: number;
  /** Time since which the first action has been ready. */
  readonly since: Date;
}

/** Counts the unfinished actions that do not wait for a retry. */
export async function countActions(sql: ISql): Promise<readonly ActionCount[]> {
  return await sql<ActionCount[]>`
    select type, state, count(*)::int as count, min(wake_at) as since
    from (
      select a.type, a.wake_at,
        case
          when a.status in ('working', 'calling') then 'working'
          when a.status in ('unknown', 'reconciling') then 'unknown'
          when exists (select 1 from pauses where ${isPaused(sql)}) then 'paused'
          when q.not_before > now() then 'limited'
          else 'due'
        end as state
      from comment_actions a
      join comment_action_queues q on q.account_id = a.account_id
      where a.status in ('queued', 'working', 'calling', 'unknown', 'reconciling')
      and (a.status <> 'queued' or a.wake_at <= now())
    ) as t
    group by type, state`;
}
