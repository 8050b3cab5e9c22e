import type { ISql } from "@postrider/shared/postgres";

/**
 * The times from which searches for due publish tasks read their indexes; see `SearchFloor`. Postgres writes the times and
 * reads them again, so they are not converted to `Date`, which would round them.
 */
export interface TaskFloors {
  /**
   * Hash of the operator's pauses. The queues of paused accounts lie below the floors of publishing, so these floors hold only
   * until the pauses change.
   */
  readonly pauses: string;
  /** Floor of the times at which the leases and publishing calls of the tasks in work end. */
  readonly inWork: string;
  /** Floors of the task queues: for publishing, and for searching for posts of publishing calls with unknown outcomes. */
  readonly queues: readonly {
    readonly platform: string;
    readonly publish: string;
    readonly look: string;
  }[];
}

/** SQL expression: the floor for the next search after a search whose first row has the time `first`, or null. */
export function nextFloor(sql: ISql, first: ReturnType<ISql>) {
  return sql`(least(${first}, now()) - interval '1 minute')`;
}

/** SQL expression: the floor of the tasks in work. */
export function inWorkFloor(sql: ISql, floors: TaskFloors | null) {
  return sql`coalesce(${floors?.inWork ?? null}::timestamptz, '-infinity')`;
}

/** Selects the given platforms with the floors `publish_from` and `look_from` of their task queues. */
export function queueFloors(sql: ISql, platforms: readonly string[], floors: TaskFloors | null) {
  return sql`
    select p.platform,
      coalesce(f.publish, '-infinity') as publish_from,
      coalesce(f.look, '-infinity') as look_from
    from unnest(${platforms as string[]}::text[]) as p(platform)
    left join jsonb_to_recordset(${sql.json([...(floors?.queues ?? [])])})
      as f(platform text, publish timestamptz, look timestamptz) on f.platform = p.platform`;
}
