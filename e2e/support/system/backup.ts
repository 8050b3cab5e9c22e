import { execFile } from "node:child_process";
import { appendFileSync, chmodSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import {
  startEmbeddedPostgres,
  type EmbeddedPostgres,
} from "@postrider/local/postgres/embedded-postgres";
import { prepareDatabase } from "@postrider/local/stack/database";
import { layoutOf } from "@postrider/local/stack/layout";
import { loadSecrets } from "@postrider/local/stack/secrets";
import postgres from "postgres";

const SCHEMAS = ["accounts", "posts", "media", "delivery", "bus"];

/** Starts a separate Postgres database, so that a test can stop, copy and restore it. */
export function startDatabase(dataDir: string, port?: number): Promise<EmbeddedPostgres> {
  // Postgres requires `wal_level` for a recovery from an archive. Without a hot standby, the server
  // accepts connections only after the recovery.
  return startEmbeddedPostgres({
    dataDir,
    ...(port === undefined ? {} : { port }),
    settings: { wal_level: "replica", hot_standby: "off" },
  });
}

/** The content of a database dump: the rows as text, and the current values of the sequences. */
export interface Dump {
  readonly tables: ReadonlyMap<string, Buffer>;
  readonly sequences: readonly { readonly name: string; readonly value: string }[];
}

async function withOwner<T>(url: string, work: (sql: postgres.Sql) => Promise<T>): Promise<T> {
  const sql = postgres(url, { max: 1, onnotice: () => undefined });
  try {
    return await work(sql);
  } finally {
    await sql.end({ timeout: 1 });
  }
}

/**
 * Dumps all data of the running services in one database snapshot, as `pg_dump --data-only` does.
 */
export async function dumpDatabase(url: string): Promise<Dump> {
  return await withOwner(url, async (sql) => {
    const dumped = await sql.begin("isolation level repeatable read", async (tx) => {
      // The test dumps a partitioned table as a whole, because the other database may have other
      // partitions.
      const names = await tx<{ name: string; rows: string }[]>`
        select format('%I.%I', nspname, relname) as name,
          format(case when relkind = 'p' then '(select * from %I.%I)' else '%I.%I' end, nspname, relname) as rows
        from pg_class
        join pg_namespace on pg_namespace.oid = relnamespace
        where nspname in ${tx(SCHEMAS)}
        and relkind in ('r', 'p')
        and not relispartition`;
      const tables = new Map<string, Buffer>();
      for (const { name, rows } of names)
        tables.set(name, await buffer(await tx.unsafe(`copy ${rows} to stdout`).readable()));
      const sequences = await tx<{ name: string; value: string }[]>`
        select format('%I.%I', schemaname, sequencename) as name, last_value::text as value
        from pg_sequences
        where schemaname in ${tx(SCHEMAS)}
        and last_value is not null`;
      return { tables, sequences: [...sequences] };
    });
    return dumped;
  });
}

/**
 * Loads a database dump into a database that already has the roles and schemas, as `pg_restore`
 * does.
 */
export async function loadDump(url: string, dataDir: string, dump: Dump): Promise<void> {
  await prepareDatabase(url, loadSecrets(layoutOf(dataDir).secretsFile));
  await withOwner(url, async (sql) => {
    await sql.unsafe("set session_replication_role = replica");
    await sql.unsafe(`truncate ${[...dump.tables.keys()].join(", ")}`);
    await sql`
      select delivery.create_day_partitions(name, current_date - 9, current_date + 2)
      from unnest(array['webhook_events', 'webhook_deliveries', 'webhook_attempts']) as name`;
    for (const [name, rows] of dump.tables)
      await pipeline(Readable.from([rows]), await sql.unsafe(`copy ${name} from stdin`).writable());
    for (const { name, value } of dump.sequences) await sql`select setval(${name}, ${value})`;
  });
}

/** Copies the files of a stopped Postgres cluster with their owners and modes. */
export async function copyCluster(from: string, to: string): Promise<void> {
  rmSync(to, { recursive: true, force: true });
  await promisify(execFile)("cp", ["-a", from, to]);
}

/**
 * Makes the next start of a stopped Postgres cluster recover from an empty archive of write-ahead
 * logs. Postgres then begins a new timeline.
 */
export function recoverFromArchive(cluster: string): void {
  const signal = join(cluster, "recovery.signal");
  writeFileSync(signal, "");
  chmodSync(signal, 0o644);
  appendFileSync(join(cluster, "postgresql.auto.conf"), "restore_command = 'false'\n");
}
