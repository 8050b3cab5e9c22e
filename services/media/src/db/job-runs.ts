import type { ISql } from "@postrider/shared/postgres";

/**
 * Claims the next run of a job by the database's clock; false when the last run began less than
 * `intervalMs` ago. The row lock lets only one of several replicas win.
 */
export async function claimRun(sql: ISql, job: string, intervalMs: number): Promise<boolean> {
  const claimed = await sql`
    insert into job_runs (job, next_at)
    values (${job}, now() + ${intervalMs} * interval '1 millisecond')
    on conflict (job) do update
    set next_at = excluded.next_at
    where job_runs.next_at <= now()
    returning 1`;
  return claimed.length > 0;
}
