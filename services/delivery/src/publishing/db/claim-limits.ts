import type { ISql, SqlFragment } from "@postrider/shared/postgres";

/** Limits that apply when a process claims publish tasks or deletion tasks. */
export interface ClaimLimits {
  /** Only informs operators; workers compare the fence. */
  readonly owner: string;
  readonly leaseMs: number;
  readonly limit: number;
  /** Maximum number of tasks of one platform in work at a time, over all processes. */
  readonly maxPerPlatform: number;
}

/** When the next task of a table is ready. */
export interface NextWake {
  /** At most 0 if a task is ready now, null if there is none. */
  readonly waitMs: number | null;
  /** For the next claim and the next search; see `SearchFloor`. */
  readonly floor: Date;
}

/** A task becomes ready at `since` or later: Postgres skips older entries of the index. */
export function isAboveFloor(sql: ISql, since: Date | null) {
  return sql`wake_at >= coalesce(${since}::timestamptz, '-infinity')`;
}

/**
 * `rows`: the table and the condition that a task is unfinished. `since`: the floor that the
 * previous search returned; null for a complete search.
 */
export async function findNextWake(
  sql: ISql,
  rows: SqlFragment,
  since: Date | null,
): Promise<NextWake> {
  const [next] = await sql<[NextWake]>`
    select extract(epoch from min(wake_at) - now())::float8 * 1000 as wait_ms,
      least(min(wake_at), now()) - interval '1 minute' as floor
    from ${rows}
    and ${isAboveFloor(sql, since)}`;
  return next;
}
