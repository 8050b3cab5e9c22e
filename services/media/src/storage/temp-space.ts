import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rm, stat } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { newId } from "@postrider/shared/ids";
import { Semaphore } from "@postrider/shared/limits/semaphore";
import { transferShares } from "@postrider/shared/limits/transfer-shares";

/**
 * Number of the field in `/proc/<pid>/stat` that contains the time at which the process started (man 5 proc_pid_stat).
 */
const START_FIELD = 22;

const host = createHash("sha256").update(hostname()).digest("hex").slice(0, 8);

/**
 * Returns a text that identifies a process of this host, and that no other process gets, even with the same process id;
 * undefined when there is no such process. On systems without `/proc`, the text depends only on the host and the
 * process id.
 */
async function identify(pid: number): Promise<string | undefined> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // `ESRCH` means that no process has this id. After any other error the process exists and belongs to another user.
    if (error instanceof Error && "code" in error && error.code === "ESRCH") return undefined;
  }
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  // The second field of `/proc/<pid>/stat`, the name of the command in parentheses, may contain spaces, so the fields
  // are counted from the last parenthesis on.
  const start = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[START_FIELD - 3] ?? "";
  return `${host}-${pid}-${start === "" ? 0 : start}`;
}

/** Returns the text that identifies this process in the names of its temporary folders. */
export async function identifyOwner(): Promise<string> {
  return (await identify(process.pid)) ?? `${host}-${process.pid}-0`;
}

/**
 * Whether the process that owns a temporary folder has ended. Returns undefined for a process of another host, for
 * example of another container that shares the folder.
 */
async function hasEnded(owner: string): Promise<boolean | undefined> {
  const [ownerHost, pid] = owner.split("-");
  if (ownerHost !== host) return undefined;
  return (await identify(Number(pid))) !== owner;
}

/**
 * Pattern of the name of a temporary folder of the media service. The name contains the process that owns the folder. The parent folder may also contain files of other programs.
 */
const NAME = /^media-check-([0-9a-f]{8}-\d+-\d+)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/**
 * Maximum time that an upload check or an import waits for disk space. After that time it fails, and its client tries
 * again.
 */
const MAX_WAIT_MS = 30_000;
const MAX_WAITING = 500;
/**
 * Maximum number of checks and imports of one workspace that wait for space. Further ones fail at once, and their clients try
 * again.
 */
const MAX_WAITING_PER_WORKSPACE = 60;
/**
 * Number of files for which an inspection reserves space: the inspected file, and the second file that platforms may receive
 * instead.
 */
const FILES_PER_INSPECTION = 2;
/** Ratio of the budget of small files to the budget of large files. */
const SMALL_BUDGET = 1 / 8;
/** A file is small if it reserves at most this fraction of the budget of small files. */
const SMALL_FILE = 1 / 8;

export interface TempSpaceOptions {
  readonly folder: string;
  /**
   * Maximum number of bytes of large files that checks and imports of this process use together. Small files may use an
   * eighth of it in addition.
   */
  readonly bytes: number;
}

/** A reservation of space for one file under inspection. */
export interface SpaceRequest {
  readonly workspaceId: string;
  /** Length of the file under inspection; its maximum length while the file is not completely received. */
  readonly bytes: number;
  readonly signal: AbortSignal;
}

interface Budget {
  readonly bytes: number;
  readonly permits: Semaphore;
}

function createBudget(bytes: number): Budget {
  const permits = new Semaphore({
    total: bytes,
    maxWaiting: MAX_WAITING,
    maxWaitingPerShare: MAX_WAITING_PER_WORKSPACE,
    maxWaitMs: MAX_WAIT_MS,
  });
  return { bytes, permits };
}

/**
 * The temporary folder for files under inspection, with two budgets of bytes for all checks and imports: small files,
 * such as images, never wait for large ones.
 */
export class TempSpace {
  readonly #folder: string;
  readonly #large: Budget;
  readonly #small: Budget;
  readonly #owner = identifyOwner();

  constructor({ folder, bytes }: TempSpaceOptions) {
    this.#folder = folder;
    this.#large = createBudget(bytes);
    this.#small = createBudget(Math.floor(bytes * SMALL_BUDGET));
  }

  /**
   * Waits until there is space for a file, before its bytes are written. Disposing of the reservation frees the space.
   * Each workspace has a fair share, which is at most half of the space.
   *
   * @throws `unavailable` when the wait takes too long; the signal's reason when it is aborted.
   */
  async reserve({ workspaceId, bytes, signal }: SpaceRequest): Promise<Disposable> {
    const amount = bytes * FILES_PER_INSPECTION;
    const isSmall = amount <= this.#small.bytes * SMALL_FILE;
    const budget = isSmall ? this.#small : this.#large;
    const shares = [
      ...transferShares({ workspaceId }),
      { key: `space of ${workspaceId}`, max: Math.floor(budget.bytes / 2) },
    ];
    return await budget.permits.acquire({ amount, signal, shares });
  }

  /** Creates a temporary folder, runs `work` with it, and then deletes the folder with its content. */
  async withFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
    const folder = join(this.#folder, `media-check-${await this.#owner}-${newId()}`);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    try {
      return await work(folder);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  /**
   * Deletes the temporary folders that killed processes left behind, and returns their number. A process of the media service
   * calls this function when it starts.
   *
   * @param before If it is not known whether the process that owns a folder still runs, for example because it is a process
   *   of another host, the folder is deleted only if it was created before this time.
   */
  async removeAbandoned(before: Date): Promise<number> {
    let count = 0;
    for (const name of await readdir(this.#folder).catch(() => [])) {
      const match = NAME.exec(name);
      if (match === null) continue;
      const path = join(this.#folder, name);
      const [, owner = ""] = match;
      const ended = await hasEnded(owner);
      if (!(ended ?? (await isOlder(path, before)))) continue;
      await rm(path, { recursive: true, force: true });
      count += 1;
    }
    return count;
  }
}

async function isOlder(path: string, before: Date): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found !== undefined && found.birthtimeMs < before.getTime();
}
