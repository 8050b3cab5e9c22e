import type { ISql, Sql } from "#src/postgres.ts";

/** Reads the database's time, which decides about schedules and deadlines; the clocks of replicas may differ. */
export type DatabaseClock = () => Promise<Date>;

/** Returns the current time of the database; inside a transaction it is not the start time of the transaction. */
export async function readClock(sql: ISql): Promise<Date> {
  const rows = await sql<{ now: Date }[]>`select clock_timestamp() as now`;
  return rows[0]?.now ?? new Date(Number.NaN);
}

/** Creates a function that reads the clock of the database; concurrent callers share one statement. */
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
