import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rm, stat } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { newId } from "@postrider/shared/ids";
import { Semaphore } from "@postrider/shared/limits/semaphore";
import { transferShares } from "@postrider/shared/limits/transfer-shares";

/** The time at which the process started (man 5 proc_pid_stat). */
const START_FIELD = 22;

const host = createHash("sha256").update(hostname()).digest("hex").slice(0, 8);

/**
 * Identifies a process of this host, also when its id is used again; undefined when there is none.
 * Without `/proc` the text depends only on host and id.
 */
async function identify(pid: number): Promise<string | undefined> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // After any other error the process exists and belongs to another user.
    if (error instanceof Error && "code" in error && error.code === "ESRCH") return undefined;
  }
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  // The second field, in parentheses, may contain spaces.
  const start = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[START_FIELD - 3] ?? "";
  return `${host}-${pid}-${start === "" ? 0 : start}`;
}

/** Identifies this process in the names of its temporary folders. */
export async function identifyOwner(): Promise<string> {
  return (await identify(process.pid)) ?? `${host}-${process.pid}-0`;
}

/** Undefined for a process of another host, for example of a container that shares the folder. */
async function hasEnded(owner: string): Promise<boolean | undefined> {
  const [ownerHost, pid] = owner.split("-");
  if (ownerHost !== host) return undefined;
  return (await identify(Number(pid))) !== owner;
}

/** The parent folder may also contain files of other programs. */
const NAME = /^media-check-([0-9a-f]{8}-\d+-\d+)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** After this wait the check or import fails, and its client tries again. */
const MAX_WAIT_MS = 30_000;
const MAX_WAITING = 500;
/** Further ones fail at once, and their clients try again. */
const MAX_WAITING_PER_WORKSPACE = 60;
/** The inspected file, and the second file that platforms may receive instead. */
const FILES_PER_INSPECTION = 2;
/** Share of the budget of large files. */
const SMALL_BUDGET = 1 / 8;
/** The part of the budget of small files up to which a file is small. */
const SMALL_FILE = 1 / 8;

export interface TempSpaceOptions {
  readonly folder: string;
  /** For large files; small files may use an eighth of it in addition. */
  readonly bytes: number;
}

export interface SpaceRequest {
  readonly workspaceId: string;
  /** The maximum length while the file is not completely received. */
  readonly bytes: number;
  /** The bytes that are needed now. Default: all. */
  readonly part?: { readonly bytes: number; readonly isFirst: boolean };
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

/** Two budgets of bytes: small files, such as images, never wait for large ones. */
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
   * Waits for space before bytes are written; disposing frees it. A workspace gets at most half of
   * the space. Later parts of a file do not wait for a share of the free space: files that have
   * begun would otherwise wait for each other.
   *
   * @throws `unavailable` when the wait takes too long; the signal's reason.
   */
  async reserve({ workspaceId, bytes, part, signal }: SpaceRequest): Promise<Disposable> {
    const amount = (part?.bytes ?? bytes) * FILES_PER_INSPECTION;
    const isSmall = bytes * FILES_PER_INSPECTION <= this.#small.bytes * SMALL_FILE;
    const budget = isSmall ? this.#small : this.#large;
    const shares = [
      ...(part?.isFirst === false ? [] : transferShares({ workspaceId })),
      { key: `space of ${workspaceId}`, max: Math.floor(budget.bytes / 2) },
    ];
    return await budget.permits.acquire({ amount, signal, shares });
  }

  /** The folder is deleted after `work`. */
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
   * Deletes the folders that killed processes left behind. If it is not known whether the owner
   * still runs, for example on another host, only folders from before `before` are deleted.
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
