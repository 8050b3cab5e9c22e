import type { ISql } from "@postrider/shared/postgres";

/** Limits that apply when a process claims publish tasks or deletion tasks. */
export interface ClaimLimits {
  /**
   * Id of the process that claims the tasks and takes their leases. The id only informs operators; workers compare the fence.
   */
  readonly owner: string;
  readonly leaseMs: number;
  /** Maximum number of tasks per claim. */
  readonly limit: number;
  /** Maximum number of tasks of one platform in work at a time, over all processes. */
  readonly maxPerPlatform: number;
}

/**
 * Maximum number of ready deletion tasks that one claim reads. It is large enough for every free worker and limits the duration
 * of the SQL statement.
 */
export const CLAIM_WINDOW = 1000;

/**
 * Selects the platforms that have reached their maximum number of tasks in work, for a query that names the tasks in work
 * `live`.
 */
export function fullPlatforms(sql: ISql, { maxPerPlatform }: ClaimLimits) {
  return sql`
    select platform
    from live
    group by platform
    having count(*) >= ${maxPerPlatform}`;
}

/**
 * Milliseconds until the next task of a table is ready; 0 or less if a task is ready now, undefined if there is no task.
 *
 * @param rows The table of tasks, with a condition if only some of its rows are unfinished tasks.
 */
export async function findNextWakeMs(
  sql: ISql,
  rows: ReturnType<ISql>,
): Promise<number | undefined> {
  const [row] = await sql<{ waitMs: number | null }[]>`
    select extract(epoch from min(wake_at) - now())::float8 * 1000 as wait_ms
    from ${rows}`;
  return row?.waitMs ?? undefined;
}
