import type { ISql } from "#src/postgres.ts";

/** SQL expression: the object id (oid) of the table `deployment`, which differs in a restored copy of the data. */
export function currentTable(sql: ISql) {
  return sql`'deployment'::regclass::oid::bigint`;
}

/**
 * Selects the timeline of the Postgres write-ahead log to which the server writes now. `pg_control_checkpoint()` still returns
 * the older timeline shortly after a promotion.
 */
export function currentTimeline(sql: ISql) {
  return sql`('x' || substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8))::bit(32)::int`;
}
