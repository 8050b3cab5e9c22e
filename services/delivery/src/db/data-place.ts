import { currentTable, currentTimeline } from "@postrider/shared/deployment/table";
import * as deployments from "@postrider/shared/deployment/table";
import type { ISql } from "@postrider/shared/postgres";

/**
 * SQL condition: the table `deployment` (alias `d`) is still in the Postgres cluster, database,
 * table and timeline that its row names. Otherwise the data was copied or restored from a backup.
 */
export function isInPlace(sql: ISql) {
  return sql`
    (d.system_identifier, d.database_oid, d.table_oid, d.timeline) = (
      select p.system_identifier, p.database_oid, ${currentTable(sql)}, ${currentTimeline(sql)}
      from (${deployments.currentPlace(sql)}) as p
    )`;
}
