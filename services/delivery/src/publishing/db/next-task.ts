import type { ISql } from "@postrider/shared/postgres";
import { isUnpaused, openPlatforms } from "./account-queues.ts";
import { inWorkFloor, nextFloor, queueFloors, type TaskFloors } from "./task-floors.ts";

export interface NextTask {
  /**
   * Until a task may be ready, or a lease or call ends; at most 0 if now, null if there is none.
   */
  readonly waitMs: number | null;
  /** Search floors of the indexes, for the next claim and the next search. */
  readonly floors: TaskFloors;
}

/** `queues`: per platform, when the first task and the first search for a post are due. */
function firstOfPlatforms(sql: ISql, platforms: readonly string[], floors: TaskFloors | null) {
  return sql`
    current_pauses as materialized (
      select coalesce(sum(hashtextextended(kind || ' ' || key, 0)), 0)::text as hash
      from pauses
    ),
    searched as materialized (
      select f.platform, f.look_from, o.platform is not null as is_open,
        case when c.hash = ${floors?.pauses ?? ""} then f.publish_from else '-infinity' end as publish_from
      from (${queueFloors(sql, platforms, floors)}) as f
      cross join current_pauses c
      left join (${openPlatforms(sql, platforms)}) as o on o.platform = f.platform
    ),
    queues as materialized (
      select s.platform, s.is_open, s.publish_from,
        case when s.is_open then (
          select publish_at
          from account_queues
          where platform = s.platform
          and publish_at >= s.publish_from
          and ${isUnpaused(sql)}
          order by publish_at
          limit 1
        ) end as publish_at,
        (
          select look_at
          from account_queues
          where platform = s.platform
          and look_at >= s.look_from
          order by look_at
          limit 1
        ) as look_at
      from searched s
    )`;
}

/**
 * SQL of a `NextTask`. Tasks to publish do not count while they are paused or their platform is
 * held. `floors` are those that the previous search returned; null for a complete search. While
 * nothing may be published on a platform, the search floor for tasks to publish on it does not
 * move.
 */
export function nextTask(sql: ISql, platforms: readonly string[], floors: TaskFloors | null) {
  return sql`
    with ${firstOfPlatforms(sql, platforms, floors)},
    in_work as materialized (
      select min(wake_at) as first
      from publish_tasks
      where status in ('working', 'calling', 'reconciling')
      and wake_at >= ${inWorkFloor(sql, floors)}
    )
    select
      extract(epoch from least(w.first, (select min(least(publish_at, look_at)) from queues)) - now())::float8 * 1000
        as wait_ms,
      jsonb_build_object(
        'pauses', c.hash,
        'inWork', ${nextFloor(sql, sql`w.first`)},
        'queues', coalesce((
          select jsonb_agg(jsonb_build_object(
            'platform', platform,
            'publish', case when is_open then ${nextFloor(sql, sql`publish_at`)} else publish_from end,
            'look', ${nextFloor(sql, sql`look_at`)}
          ))
          from queues
        ), '[]')
      ) as floors
    from in_work w
    cross join current_pauses c`;
}

export async function findNextTask(
  sql: ISql,
  platforms: readonly string[],
  floors: TaskFloors | null,
): Promise<NextTask> {
  const [next] = await sql<[NextTask]>`${nextTask(sql, platforms, floors)}`;
  return next;
}
