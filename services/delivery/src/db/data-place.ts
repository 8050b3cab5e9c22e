import * as deployments from "@postrider/shared/deployment/table";
import type { ISql } from "@postrider/shared/postgres";

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

/**
 * SQL condition: the table `deployment` (alias `d`) is still in the Postgres cluster, database, table and timeline that its row
 * names. Otherwise the data was copied or restored from a backup.
 */
export function isInPlace(sql: ISql) {
  return sql`
    (d.system_identifier, d.database_oid, d.table_oid, d.timeline) = (
      select p.system_identifier, p.database_oid, ${currentTable(sql)}, ${currentTimeline(sql)}
      from (${deployments.currentPlace(sql)}) as p
    )`;
}
