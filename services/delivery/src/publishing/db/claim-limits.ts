import type { ISql } from "@postrider/shared/postgres";

/** What bounds a claim of tasks or of deletions. */
export interface ClaimLimits {
  /** Which process takes the lease; for operators only, workers go by the fence. */
  readonly owner: string;
  readonly leaseMs: number;
  /** Maximum number of rows per claim. */
  readonly limit: number;
  /** Maximum number of rows of one platform in work, over all processes. */
  readonly maxPerPlatform: number;
}

/** Maximum number of ready rows that one claim looks at: enough for every free worker, and a bound for the statement. */
export const CLAIM_WINDOW = 1000;

/** Platforms at their maximum, for a query that names the rows in work `live`. */
export function fullPlatforms(sql: ISql, { maxPerPlatform }: ClaimLimits) {
  return sql`
    select platform
    from live
    group by platform
    having count(*) >= ${maxPerPlatform}`;
}

/**
 * Milliseconds until the next row of a table is ready; 0 or less when one is ready now, undefined when there is none.
 *
 * @param rows The table, with a condition where only some of its rows are open.
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
