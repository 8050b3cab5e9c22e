import type postgres from "postgres";
import type { ISql } from "#src/postgres.ts";

type Rows = readonly postgres.MaybeRow[];

/** A part of the plan of a query that was run. */
export interface Plan {
  readonly "Shared Hit Blocks": number;
  readonly "Shared Read Blocks": number;
  readonly "Relation Name"?: string;
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly "Rows Removed by Filter"?: number;
  readonly Plans?: readonly Plan[];
}

export async function explain<T extends Rows>(
  sql: ISql,
  query: postgres.PendingQuery<T>,
): Promise<Plan> {
  const [row] = await sql<Record<string, readonly [{ readonly Plan: Plan }]>[]>`
    explain (analyze, buffers, format json) ${query}`;
  const plan = Object.values(row ?? {})[0]?.[0].Plan;
  if (plan === undefined) throw new Error("the plan of the query is missing");
  return plan;
}

/** Returns the number of database pages that a query reads. */
export async function countPages<T extends Rows>(
  sql: ISql,
  query: postgres.PendingQuery<T>,
): Promise<number> {
  const plan = await explain(sql, query);
  return plan["Shared Hit Blocks"] + plan["Shared Read Blocks"];
}
