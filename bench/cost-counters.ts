import type { LocalStack } from "@postrider/local/stack/local-file";
import type postgres from "postgres";
import { cpuSeconds, cpuSecondsOfFamily } from "./measure.ts";

/**
 * The counters that grow when a post is published, by name: those of processes, of the database and
 * of events. One map holds all counters, so that one subtraction compares two readings.
 */
export type Counters = ReadonlyMap<string, number>;

/**
 * Reads all counters: `cpu/<process>` in ms, `kB/<schema>` of tables and indexes, `events`, and the
 * statistics of Postgres.
 */
export async function readCounters(local: LocalStack, sql: postgres.Sql): Promise<Counters> {
  const [database, tables] = await Promise.all([readDatabase(sql), readTables(sql)]);
  return new Map([...readCpu(local), ...database, ...tables]);
}

/**
 * The cost of one post: the growth of each counter between two readings, minus the growth in an
 * idle system in the same time, divided by the number of posts.
 */
export function costOf(
  { before, after }: { readonly before: Counters; readonly after: Counters },
  { idlePerMs, posts }: { readonly idlePerMs: Counters; readonly posts: number },
): Counters {
  const elapsedMs = get(after, "at") - get(before, "at");
  return new Map(
    [...after].map(([name, value]) => {
      const idle = elapsedMs * get(idlePerMs, name);
      return [name, (value - get(before, name) - idle) / posts];
    }),
  );
}

/** Growth of each counter per millisecond while the system is idle. */
export function idleOf(before: Counters, after: Counters): Counters {
  const elapsedMs = get(after, "at") - get(before, "at");
  return new Map(
    [...after].map(([name, value]) => [
      name,
      // The tables of an idle system do not grow, so no growth of disk space is subtracted from the
      // cost of a post.
      name.startsWith("kB/") ? 0 : (value - get(before, name)) / elapsedMs,
    ]),
  );
}

export function get(counters: Counters, name: string): number {
  return counters.get(name) ?? 0;
}

function readCpu(local: LocalStack): [string, number][] {
  const services = Object.entries(local.services).map(([name, replicas]): [string, number] => [
    `cpu/${name}`,
    1000 * replicas.reduce((sum, { pid }) => sum + cpuSeconds(pid), 0),
  ]);
  const postmaster = local.postgres?.pid ?? 0;
  return [...services, ["cpu/postgres", 1000 * cpuSecondsOfFamily(postmaster)]];
}

async function readDatabase(sql: postgres.Sql): Promise<[string, number][]> {
  const [row] = await sql<Record<string, number>[]>`
    select
      extract(epoch from clock_timestamp())::float8 * 1000 as at,
      d.xact_commit::float8 as transactions,
      (d.tup_inserted + d.tup_updated + d.tup_deleted)::float8 as rows,
      w.wal_bytes::float8 / 1000 as "walKb",
      w.wal_fpi::float8 as "walPages",
      (
        select count(*)
        from bus.records
      )::float8 as events
    from pg_stat_database as d, pg_stat_wal as w
    where d.datname = current_database()`;
  return Object.entries(row ?? {});
}

async function readTables(sql: postgres.Sql): Promise<[string, number][]> {
  const rows = await sql<{ schema: string; bytes: number }[]>`
    select schemaname as schema, sum(pg_total_relation_size(relid))::float8 as bytes
    from pg_stat_user_tables
    group by schemaname`;
  return rows.map(({ schema, bytes }) => [`kB/${schema}`, bytes / 1000]);
}
