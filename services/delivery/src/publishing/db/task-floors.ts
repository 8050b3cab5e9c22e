import type { ISql } from "@postrider/shared/postgres";

/**
 * The times from which searches for due publish tasks read their indexes; see `SearchFloor`. Postgres writes the times and
 * reads them again, so they are not converted to `Date`, which would round them.
 */
export interface TaskFloors {
  /**
   * Hash of the operator's pauses. The times in `queues` from which accounts to publish are searched skip paused accounts, so
   * they are valid only until the pauses change.
   */
  readonly pauses: string;
  /** Time from which searches for ended leases and publishing calls read the tasks in work. */
  readonly inWork: string;
  /**
   * Times from which searches read the task queues of each platform: for publishing, and for posts of publishing calls with
   * unknown outcomes.
   */
  readonly queues: readonly {
    readonly platform: string;
    readonly publish: string;
    readonly look: string;
  }[];
}

/**
 * SQL expression: the time from which the next search reads an index. `first` is the time of the first row that this search
 * found, or null.
 */
export function nextFloor(sql: ISql, first: ReturnType<ISql>) {
  return sql`(least(${first}, now()) - interval '1 minute')`;
}

/** SQL expression: the time from which searches for ended leases and publishing calls read the tasks in work. */
export function inWorkFloor(sql: ISql, floors: TaskFloors | null) {
  return sql`coalesce(${floors?.inWork ?? null}::timestamptz, '-infinity')`;
}

/** Selects the given platforms with the times from which a search reads their task queues, `publish_from` and `look_from`. */
export function queueFloors(sql: ISql, platforms: readonly string[], floors: TaskFloors | null) {
  return sql`
    select p.platform,
      coalesce(f.publish, '-infinity') as publish_from,
      coalesce(f.look, '-infinity') as look_from
    from unnest(${platforms as string[]}::text[]) as p(platform)
    left join jsonb_to_recordset(${sql.json([...(floors?.queues ?? [])])})
      as f(platform text, publish timestamptz, look timestamptz) on f.platform = p.platform`;
}
