import { mkdir, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { newId } from "@postrider/shared/ids";
import { Semaphore } from "@postrider/shared/limits/semaphore";
import { transferShares } from "@postrider/shared/limits/transfer-shares";
import { hasEnded, identifyOwner } from "#src/storage/temp-owner.ts";

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
