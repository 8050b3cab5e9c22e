import type { ISql, Sql } from "#src/postgres.ts";

/** Schedules and deadlines use it, because the clocks of replicas may differ. */
export type DatabaseClock = () => Promise<Date>;

/** Inside a transaction `now()` would be its beginning. */
export async function readClock(sql: ISql): Promise<Date> {
  const rows = await sql<{ now: Date }[]>`select clock_timestamp() as now`;
  return rows[0]?.now ?? new Date(Number.NaN);
}

/** Concurrent callers share one query. */
export function createDatabaseClock(sql: Sql): DatabaseClock {
  let asking: Promise<Date> | undefined;
  const ask = async (): Promise<Date> => {
    try {
      return await readClock(sql);
    } finally {
      asking = undefined;
    }
  };
  return () => (asking ??= ask());
}
