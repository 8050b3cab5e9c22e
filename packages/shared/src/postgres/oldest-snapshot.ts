import type { ISql } from "#src/postgres.ts";
import { createAgeGauge } from "#src/telemetry/metrics.ts";

/**
 * Minimum number of transactions that must begin after a snapshot was taken before the metric shows the snapshot. An
 * idle database has old snapshots too, but no deleted rows that they keep.
 */
const MIN_TRANSACTIONS = 1_000;

const oldest = createAgeGauge(
  "database_oldest_snapshot_seconds",
  "How long the oldest snapshot has kept the database from removing deleted rows.",
);

/**
 * Follows the snapshots that keep Postgres from removing deleted rows: the snapshots of backups and long queries, of standbys
 * that report theirs, of replication slots and of prepared transactions. A service's role may not see when another role's
 * transaction began, so the age of a snapshot counts from when this class first saw it.
 */
export class SnapshotWatch {
  #firstSeen: ReadonlyMap<string, Date> = new Map();

  /**
   * Sets the metric of the oldest snapshot's age, and returns when that snapshot was first seen; undefined if there is
   * none.
   */
  async look(sql: ISql, now: Date): Promise<Date | undefined> {
    const rows = await sql<{ xmin: string }[]>`
      select distinct xmin::text as xmin
      from (
        select coalesce(backend_xmin, backend_xid) as xmin from pg_stat_activity
        union all
        select xmin from pg_replication_slots
        union all
        select transaction from pg_prepared_xacts
      ) as snapshot
      where age(xmin) > ${MIN_TRANSACTIONS}`;
    const known = this.#firstSeen;
    this.#firstSeen = new Map(rows.map(({ xmin }) => [xmin, known.get(xmin) ?? now]));
    const since = [...this.#firstSeen.values()].toSorted((a, b) => a.getTime() - b.getTime())[0];
    oldest.set({}, since);
    return since;
  }
}
