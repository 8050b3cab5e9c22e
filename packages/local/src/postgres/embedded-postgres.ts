import { resolve } from "node:path";
import {
  findPostgresBinaries,
  clearStalePid,
  type ClusterOptions,
  ensureCluster,
  readPostmasterPid,
  restrictMode,
} from "#src/postgres/postgres-cluster.ts";
import { findStablePort } from "#src/processes/free-port.ts";
import { poll } from "#src/processes/poll.ts";
import { type LoggedChild, startChild, toPart } from "#src/processes/start-child.ts";
import type { RunningPart } from "#src/processes/supervised-part.ts";
import { unprivilegedUser } from "#src/processes/unprivileged-user.ts";

/** Disposing stops the server and keeps its data. */
export interface EmbeddedPostgres extends RunningPart {
  readonly url: string;
  readonly port: number;
  readonly dataDir: string;
}

export interface EmbeddedPostgresOptions {
  readonly dataDir: string;
  readonly port?: number;
  /** Of the cluster's owner; it cannot change later. The default is for clusters of tests only. */
  readonly password?: string;
  readonly logFile?: string;
  readonly settings?: Readonly<Record<string, string>>;
}

/** For small machines. None reduces durability: services refuse to start without fsync. */
const settings = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  fsync: "on",
  synchronous_commit: "on",
  max_connections: "300",
  shared_buffers: "96MB",
  max_wal_size: "1GB",
  checkpoint_timeout: "15min",
  wal_level: "minimal",
  max_wal_senders: "0",
  max_logical_replication_workers: "0",
  max_parallel_workers_per_gather: "0",
  io_method: "sync",
  autovacuum_max_workers: "2",
  autovacuum_naptime: "20s",
  jit: "off",
  timezone: "UTC",
  log_timezone: "UTC",
};

const startTimeoutMs = 150_000;

/**
 * Creates the cluster unless it exists. For root, Postgres runs as `nobody`. The next start
 * recovers the data of a killed server. Throws in one line if `nobody` cannot enter the folder,
 * another server uses it, or the server does not start.
 */
export async function startEmbeddedPostgres(
  options: EmbeddedPostgresOptions,
): Promise<EmbeddedPostgres> {
  const dataDir = resolve(options.dataDir);
  const password = options.password ?? "postrider";
  const cluster: ClusterOptions = {
    dataDir,
    password,
    binaries: await findPostgresBinaries(),
    user: unprivilegedUser(dataDir),
  };
  await ensureCluster(cluster);
  const port = options.port ?? (await findStablePort());
  const logFile = options.logFile ?? `${dataDir}.log`;
  const started = await poll(() => tryStart(cluster, { ...options, port, logFile }), {
    everyMs: 200,
    timeoutMs: startTimeoutMs,
  });
  if (started === undefined)
    throw new Error(`Postgres did not start on ${dataDir} within ${startTimeoutMs / 1000} s`);

  const url = `postgres://postgres:${encodeURIComponent(password)}@127.0.0.1:${port}/postgres`;
  // SIGINT makes Postgres disconnect its clients and stop; on SIGTERM it would wait until they
  // disconnect.
  const part = toPart(started, ["SIGINT", 10_000], ["SIGQUIT", 5_000], ["SIGKILL", 1_000]);
  return { ...part, url, port, dataDir };
}

/** Undefined to try again, because processes of a killed server may still be ending. */
async function tryStart(
  cluster: ClusterOptions,
  options: EmbeddedPostgresOptions & { port: number; logFile: string },
): Promise<LoggedChild | undefined> {
  const { dataDir } = cluster;
  clearStalePid(dataDir);
  restrictMode(dataDir);
  const all = { ...settings, port: String(options.port), ...options.settings };
  const flags = Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  // Postgres runs in a separate process group: Ctrl-C in the terminal must not stop the database
  // before its clients.
  const started = startChild(cluster.binaries.postgres, ["-D", dataDir, ...flags], {
    ...cluster.user,
    detached: true,
    cwd: "/",
    env: { PATH: "/usr/bin:/bin", TZ: "UTC" },
    logFile: options.logFile,
    onOrphaned: "INT",
  });
  if (await becomesReady(started, dataDir)) return started;

  const said = started.said();
  if (said.includes("pre-existing shared memory block")) return undefined;

  throw new Error(`Postgres did not start on ${dataDir}, port ${options.port}: ${said}`);
}

/** False when the server ended. As pg_ctl, it reads the pid file for the word "ready". */
async function becomesReady(started: LoggedChild, dataDir: string): Promise<boolean> {
  const { child } = started;
  let failed: Error | undefined;
  child.once("error", (error) => {
    failed = error;
  });
  const answer = await poll(
    () => {
      if (failed !== undefined)
        throw new Error(`Postgres could not be started: ${failed.message}`, { cause: failed });

      if (started.hasEnded()) return false;

      const file = readPostmasterPid(dataDir);
      return file?.pid === child.pid && file?.ready === true ? true : undefined;
    },
    { everyMs: 10, timeoutMs: startTimeoutMs },
  );
  if (answer === undefined) child.kill("SIGKILL");

  return answer === true;
}
