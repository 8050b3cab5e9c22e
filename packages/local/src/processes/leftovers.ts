import { mkdirSync, rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { findPostmaster } from "#src/postgres/postgres-cluster.ts";
import { isIdentity } from "#src/processes/hold.ts";
import { readJsonFile, writeJsonFile } from "#src/processes/json-file.ts";
import { poll } from "#src/processes/poll.ts";
import {
  identifyProcess,
  type ProcessIdentity,
  stillRuns,
} from "#src/processes/process-identity.ts";
import type { Layout } from "#src/stack/layout.ts";

const SQLITE_BUSY = 5;

/**
 * Until disposed of or the process ends in any way. Node offers no lock of the operating system,
 * but its SQLite does. Unlike a file that names its owner, it is never left behind by a killed
 * process. `path` is an empty file only for locks; undefined if it is locked.
 */
function tryLockFile(path: string): Disposable | undefined {
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    // SQLite gives the lock for writing to exactly one of several connections. With
    // `begin exclusive` all of them could fail, because each connection needs the others to stop
    // reading for a moment.
    database.exec("pragma journal_mode = memory; begin immediate");
    return { [Symbol.dispose]: () => database.close() };
  } catch (error) {
    database.close();
    if (error instanceof Error && "errcode" in error && error.errcode === SQLITE_BUSY)
      return undefined;

    throw error;
  }
}

const politeMs = 3_000;
const killedMs = 5_000;

/** Disposing lets another launcher claim the folder. */
export type FolderClaim = Disposable;

/**
 * Ends the processes that a killed launcher left. Throws in one line when another launcher still
 * runs there.
 */
export async function claimFolder(layout: Layout): Promise<FolderClaim> {
  mkdirSync(layout.dataDir, { recursive: true });
  const lock = tryLockFile(layout.lockFile);
  if (lock === undefined) throw new Error(runningMessage(layout, findLauncher(layout)));

  try {
    const isCopied = isOfRunningLauncher(layout);
    writeJsonFile(layout.launcherFile, identifyProcess(process.pid));
    if (isCopied) rmSync(layout.processesFile, { force: true });
    else await endLeftovers(layout);
    rmSync(layout.localFile, { force: true });
    rmSync(layout.hold, { recursive: true, force: true });
    mkdirSync(layout.hold);
  } catch (error) {
    lock[Symbol.dispose]();
    throw error;
  }
  return { [Symbol.dispose]: () => release(layout, lock) };
}

/**
 * Whether the folder is a copy, such as a restored backup, of the folder in which another launcher
 * runs: that launcher does not hold the lock of this folder, and its processes are no leftovers.
 */
function isOfRunningLauncher(layout: Layout): boolean {
  const launcher = findLauncher(layout);
  return launcher !== undefined && launcher.pid !== process.pid;
}

// The launcher releases its lock last, because the next launcher that gets the lock writes files
// with the same names.
function release(layout: Layout, lock: Disposable): void {
  for (const file of [layout.localFile, layout.processesFile, layout.launcherFile])
    rmSync(file, { force: true });

  lock[Symbol.dispose]();
}

export function findLauncher(layout: Layout): ProcessIdentity | undefined {
  const launcher = readJsonFile(layout.launcherFile);
  return isIdentity(launcher) && stillRuns(launcher) ? launcher : undefined;
}

/** For the next launcher, if the current one is killed. */
export function recordProcesses(layout: Layout, pids: readonly number[]): void {
  const identities = pids.map((pid) => identifyProcess(pid)).filter((each) => each !== undefined);
  writeJsonFile(layout.processesFile, identities);
}

export function listProcesses(layout: Layout): ProcessIdentity[] {
  const recorded = readJsonFile(layout.processesFile);
  return Array.isArray(recorded) ? recorded.filter(isIdentity) : [];
}

// Names no process if the launcher is just starting and has not written its launcher file yet.
function runningMessage({ dataDir }: Layout, launcher: ProcessIdentity | undefined): string {
  const named = launcher === undefined ? "" : ` (process ${launcher.pid})`;
  return `a stack already runs on ${dataDir}${named}`;
}

async function endLeftovers(layout: Layout): Promise<void> {
  const identities = listProcesses(layout);
  const postmaster = identifyProcess(findPostmaster(layout.postgres) ?? 0);
  await Promise.all(identities.map((identity) => end(identity, "SIGTERM")));
  if (postmaster !== undefined)
    // On SIGINT, Postgres disconnects its clients and stops. On SIGTERM, it would wait until its
    // clients disconnect.
    await end(postmaster, "SIGINT");

  rmSync(layout.processesFile, { force: true });
}

/** Checked before each signal, because another process may have the pid by now. */
async function end(identity: ProcessIdentity, polite: NodeJS.Signals): Promise<void> {
  for (const [signals, waitMs] of [
    [[polite, "SIGCONT"], politeMs],
    [["SIGKILL"], killedMs],
  ] as const) {
    for (const signal of signals) if (stillRuns(identity)) signalProcess(identity.pid, signal);

    const gone = await poll(() => (stillRuns(identity) ? undefined : true), {
      everyMs: 20,
      timeoutMs: waitMs,
    });
    if (gone === true) return;
  }
  throw new Error(`process ${identity.pid}, left by an earlier start, cannot be ended`);
}

function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}
