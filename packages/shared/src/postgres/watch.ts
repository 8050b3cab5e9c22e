import type { ISql, Sql } from "#src/postgres.ts";
import { startLoop } from "#src/process/loop.ts";
import { createAgeGauge, createGauge } from "#src/telemetry/metrics.ts";

/** An idle database has old snapshots too, but no deleted rows that they keep. */
const MIN_TRANSACTIONS = 1_000;

const oldest = createAgeGauge(
  "database_oldest_snapshot_seconds",
  "How long the oldest snapshot has kept the database from removing deleted rows.",
);

/**
 * Follows the snapshots that keep Postgres from removing deleted rows: of backups, long queries,
 * standbys, replication slots and prepared transactions. A service's role may not see when another
 * role's transaction began, so their age counts from when this class first saw them.
 */
export class SnapshotWatch {
  #firstSeen: ReadonlyMap<string, Date> = new Map();

  /** Returns when the oldest snapshot was first seen. */
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

const EVERY_MS = 10_000;
const MAIN = "main";
const STATES = ["active", "idle", "idle in transaction"];

const up = createGauge("database_up", "1 while the database answers.");
const poolSize = createGauge(
  "database_pool_size",
  "Maximum number of connections of each pool of this process.",
  ["pool"],
);
const waitSeconds = createGauge(
  "database_pool_wait_seconds",
  "How long the latest small statement took from asking the pool to its answer.",
  ["pool"],
);
const connections = createGauge(
  "database_connections",
  "Connections of the service's role, of all its processes.",
  ["state"],
);
const skewSeconds = createGauge(
  "database_clock_skew_seconds",
  "How far this process's clock is ahead of the database's.",
);

interface Look {
  readonly now: Date;
  readonly states: Readonly<Record<string, number>>;
}

async function look(sql: Sql): Promise<void> {
  const askedAt = performance.now();
  const [row] = await sql<Look[]>`
    select clock_timestamp() as now, (
      select coalesce(json_object_agg(state, count), '{}')
      from (
        select state, count(*)
        from pg_stat_activity
        where usename = current_user
        and state is not null
        group by state
      ) as of_role
    ) as states`;
  const tookMs = performance.now() - askedAt;
  up.set(1);
  waitSeconds.set({ pool: MAIN }, tookMs / 1000);
  // Assumes that the database read its clock half of the round trip ago.
  const aheadMs = Date.now() - tookMs / 2 - (row?.now.getTime() ?? Date.now());
  skewSeconds.set(aheadMs / 1000);
  for (const state of STATES) connections.set({ state }, row?.states[state] ?? 0);
}

/** Round trip time, connections, clock difference and oldest snapshot. */
export function watchDatabase(sql: Sql, size: number): AsyncDisposable {
  poolSize.set({ pool: MAIN }, size);
  up.set(0);
  const snapshots = new SnapshotWatch();
  return startLoop({
    idleMs: EVERY_MS,
    work: async () => {
      await look(sql);
      await snapshots.look(sql, new Date());
      return EVERY_MS;
    },
    onError: () => up.set(0),
  });
}

/** A further pool: its size and how long statements wait for a connection. */
export function watchPool(sql: Sql, pool: string, size: number): AsyncDisposable {
  poolSize.set({ pool }, size);
  return startLoop({
    idleMs: EVERY_MS,
    work: async () => {
      const askedAt = performance.now();
      await sql`select 1`;
      waitSeconds.set({ pool }, (performance.now() - askedAt) / 1000);
      return EVERY_MS;
    },
    // The main pool's measurement reports a database that does not answer.
    onError: () => undefined,
  });
}
