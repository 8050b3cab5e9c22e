import type { ISql, Sql } from "@postrider/shared/postgres";

/** The database's time with milliseconds: what a post is accepted at, whatever this process's clock says. */
export type DatabaseClock = () => Promise<Date>;

/** The time of one answer; see `DatabaseClock`. */
export async function readClock(sql: ISql): Promise<Date> {
  const rows = await sql<{ now: Date }[]>`select clock_timestamp() as now`;
  return rows[0]?.now ?? new Date(Number.NaN);
}

/** Callers that come while a question is under way share its answer. */
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
