import type { ISql } from "@postrider/shared/postgres";

/** See `SearchFloor`. Kept as Postgres writes them: a `Date` would round them. */
export interface TaskFloors {
  /** Hash of the pauses: floors in `queues` skip paused accounts, so a changed pause ends them. */
  readonly pauses: string;
  /** For searches for leases and calls whose time has passed. */
  readonly inWork: string;
  /** Per platform, where the next search for tasks to publish and for posts to look for starts. */
  readonly queues: readonly {
    readonly platform: string;
    readonly publish: string;
    readonly look: string;
  }[];
}

/** `first` is the time of the first row that this search found, or null. */
export function nextFloor(sql: ISql, first: ReturnType<ISql>) {
  return sql`(least(${first}, now()) - interval '1 minute')`;
}

export function inWorkFloor(sql: ISql, floors: TaskFloors | null) {
  return sql`coalesce(${floors?.inWork ?? null}::timestamptz, '-infinity')`;
}

/** With `publish_from` and `look_from`, from which a search reads their queues. */
export function queueFloors(sql: ISql, platforms: readonly string[], floors: TaskFloors | null) {
  return sql`
    select p.platform,
      coalesce(f.publish, '-infinity') as publish_from,
      coalesce(f.look, '-infinity') as look_from
    from unnest(${platforms as string[]}::text[]) as p(platform)
    left join jsonb_to_recordset(${sql.json([...(floors?.queues ?? [])])})
      as f(platform text, publish timestamptz, look timestamptz) on f.platform = p.platform`;
}
