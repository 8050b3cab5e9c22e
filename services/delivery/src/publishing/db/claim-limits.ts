import type { ISql } from "@postrider/shared/postgres";

/** Limits of a claim of tasks or of deletions. */
export interface ClaimLimits {
  /** Id of the process that takes the lease. It is only information for operators; workers compare the fence. */
  readonly owner: string;
  readonly leaseMs: number;
  /** Maximum number of rows per claim. */
  readonly limit: number;
  /** Maximum number of rows of one platform in work at a time, over all processes. */
  readonly maxPerPlatform: number;
}

/**
 * Maximum number of ready rows that one claim reads: enough for every free worker, and a limit for the duration of the
 * statement.
 */
export const CLAIM_WINDOW = 1000;

/** Platforms at their maximum of rows in work, for a query that names the rows in work `live`. */
export function fullPlatforms(sql: ISql, { maxPerPlatform }: ClaimLimits) {
  return sql`
    select platform
    from live
    group by platform
    having count(*) >= ${maxPerPlatform}`;
}

/**
 * Milliseconds until the next row of a table is ready; 0 or less if a row is ready now, undefined if there is no row.
 *
 * @param rows The table, with a condition if only some of its rows are open.
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
