import type { ISql, Sql } from "#src/postgres.ts";

/** Schedules and deadlines use it, because the clocks of replicas may differ. */
export type DatabaseClock = () => Promise<Date>;

/** Inside a transaction `now()` would be its beginning. */
export async function readClock(sql: ISql): Promise<Date> {
  const rows = await sql<{ now: Date }[]>`select clock_timestamp() as now`;
  return rows[0]?.now ?? new Date(Number.NaN);
}

const DAY_MS = 86_400_000;

export function daysBefore(at: Date, days: number): Date {
  return new Date(at.getTime() - days * DAY_MS);
}

/** A process whose clock is ahead must not remove what is not old. */
export async function daysAgo(sql: ISql, days: number): Promise<Date> {
  return daysBefore(await readClock(sql), days);
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
