import { chownSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
  startEmbeddedPostgres,
  type EmbeddedPostgres,
} from "@postrider/local/postgres/embedded-postgres";
import { startForwarder } from "@postrider/local/processes/forwarder";
import { findStablePort } from "@postrider/local/processes/free-port";
import { eventually } from "@postrider/shared/testing/poll";
import postgres from "postgres";
import { expect } from "vitest";
import { copyCluster } from "./backup.ts";

const SETTINGS = { wal_level: "replica", max_wal_senders: "4" };

/** A Postgres and its synchronous standby behind one address, as a cluster manager keeps them. */
export interface PostgresPair extends AsyncDisposable {
  /** Leads to the server that takes writes. */
  readonly url: string;
  /** Kills the primary, and makes the standby the primary after the given time. */
  failOver(afterMs: number): Promise<void>;
}

/** A base backup of the running primary, which goes on with the primary's write-ahead log. */
async function startStandby(
  primary: EmbeddedPostgres,
  sql: postgres.Sql,
  dataDir: string,
): Promise<EmbeddedPostgres> {
  await sql`select pg_backup_start('standby', true)`;
  await copyCluster(primary.dataDir, dataDir);
  const [label] = await sql<{ labelfile: string }[]>`select labelfile from pg_backup_stop(false)`;
  const { uid, gid } = statSync(dataDir);
  for (const [name, text = ""] of [["backup_label", label?.labelfile], ["standby.signal"]]) {
    writeFileSync(join(dataDir, name ?? ""), text);
    chownSync(join(dataDir, name ?? ""), uid, gid);
  }
  const { hostname, port, username, password } = new URL(primary.url);
  const primaryAddress = { host: hostname, port, user: username, password };
  const conninfo = Object.entries(primaryAddress).map(([name, value]) => `${name}=${value}`);
  return await startEmbeddedPostgres({
    dataDir,
    settings: { ...SETTINGS, primary_conninfo: conninfo.join(" ") },
  });
}

/** From now on a commit waits until the standby has it on its disk. */
async function waitForStandby(sql: postgres.Sql): Promise<void> {
  await sql`alter system set synchronous_standby_names = '*'`;
  await sql`select pg_reload_conf()`;
  await eventually(async () => {
    expect(await sql`select sync_state, state from pg_stat_replication`).toEqual([
      { sync_state: "sync", state: "streaming" },
    ]);
  });
}

/** `folder` must be one that the user of Postgres may enter. */
export async function startPostgresPair(folder: string): Promise<PostgresPair> {
  await using started = new AsyncDisposableStack();
  const primary = started.use(
    await startEmbeddedPostgres({ dataDir: join(folder, "primary"), settings: SETTINGS }),
  );
  const connect = ({ url }: EmbeddedPostgres): postgres.Sql => {
    const sql = postgres(url, { max: 1, onnotice: () => undefined });
    started.defer(() => sql.end({ timeout: 1 }));
    return sql;
  };
  const sql = connect(primary);
  const standby = started.use(await startStandby(primary, sql, join(folder, "standby")));
  const standbySql = connect(standby);
  await waitForStandby(sql);
  const port = await findStablePort();
  const way = { forwarder: await startForwarder(port, [primary.port]) };
  started.defer(() => way.forwarder[Symbol.asyncDispose]());
  const url = new URL(primary.url);
  url.port = String(port);
  const running = started.move();
  return {
    url: url.href,
    failOver: async (afterMs) => {
      process.kill(primary.pid, "SIGKILL");
      await way.forwarder[Symbol.asyncDispose]();
      await sleep(afterMs);
      await standbySql`select pg_promote()`;
      way.forwarder = await startForwarder(port, [standby.port]);
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
