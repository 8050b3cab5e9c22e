import type { ISql, Sql } from "#src/postgres.ts";

/**
 * Reads the time of the database. Schedules and deadlines use this time, because the clocks of the service's replicas
 * may differ.
 */
export type DatabaseClock = () => Promise<Date>;

/**
 * Returns the current time of the database, also inside a transaction, where Postgres's `now()` is the time at which
 * the transaction began.
 */
export async function readClock(sql: ISql): Promise<Date> {
  const rows = await sql<{ now: Date }[]>`select clock_timestamp() as now`;
  return rows[0]?.now ?? new Date(Number.NaN);
}

/** Creates a function that reads the clock of the database. Concurrent callers of the function share one SQL query. */
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
