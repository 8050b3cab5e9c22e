import type { ISql } from "#src/postgres.ts";

export function currentTable(sql: ISql) {
  return sql`'deployment'::regclass::oid::bigint`;
}

/**
 * The timeline to which the server writes now; `pg_control_checkpoint()` still returns the older
 * one shortly after a promotion.
 */
export function currentTimeline(sql: ISql) {
  return sql`('x' || substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8))::bit(32)::int`;
}
