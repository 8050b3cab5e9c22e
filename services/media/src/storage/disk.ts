import { createHash, randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { access, type FileHandle, link, mkdir, open, realpath, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { abortable } from "#src/storage/abortable.ts";
import { clipRange, requireRange } from "#src/storage/byte-range.ts";
import {
  findFile,
  listNames,
  makeDurableFolder,
  nextWriteTime,
  syncFolder,
  toStoredObject,
  undefinedIfMissing,
} from "#src/storage/disk-files.ts";
import { isObjectKey, requireMove, requireObjectKey } from "#src/storage/object-key.ts";
import type { ByteRange, ObjectStore, StoredObject } from "#src/storage/object-store.ts";
import { writeGathered } from "#src/storage/write-gathered.ts";

/** No key has a dot in front. */
const UNFINISHED = ".unfinished";
const READ_BYTES = 256 * 1024;

/**
 * Opens the store in a folder, which is made when it is not there. The folder is on one local file system that knows
 * hard links, and belongs to the store alone; processes of one machine may share it.
 */
export async function openDiskStore(folder: string): Promise<ObjectStore> {
  await mkdir(join(folder, UNFINISHED), { recursive: true, mode: 0o700 });
  const store = new DiskStore(await realpath(folder));
  await store.check();
  return store;
}

class DiskStore implements ObjectStore {
  readonly #root: string;
  readonly #unfinished: string;
  readonly #durableFolders = new Set<string>();

  constructor(root: string) {
    this.#root = root;
    this.#unfinished = join(root, UNFINISHED);
  }

  async put(
    key: string,
    bytes: AsyncIterable<Uint8Array>,
    signal?: AbortSignal,
  ): Promise<StoredObject> {
    const path = this.#pathOf(key);
    const unfinished = this.#newUnfinished();
    try {
      const stored = await writeNewFile(unfinished, abortable(bytes, signal));
      signal?.throwIfAborted();
      await this.#rename(unfinished, path);
      return stored;
    } finally {
      // After the rename there is nothing left under this name.
      await rm(unfinished, { force: true });
    }
  }

  async open(key: string, range?: ByteRange, signal?: AbortSignal) {
    requireRange(range);
    signal?.throwIfAborted();
    const file = await open(this.#pathOf(key), "r").catch(undefinedIfMissing);
    if (file === undefined) {
      await this.check();
      return undefined;
    }
    try {
      const stored = toStoredObject(await file.stat({ bigint: true }));
      return { ...stored, content: await readPart(file, clipRange(range, stored.bytes), signal) };
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  async stat(key: string): Promise<StoredObject | undefined> {
    const file = await findFile(this.#pathOf(key));
    if (file !== undefined) return toStoredObject(file);
    await this.check();
    return undefined;
  }

  /**
   * A second name pins the file whatever happens to the first one, so what was compared is what gets to `to`; the first
   * name goes last, so that a crash loses nothing.
   */
  async move(from: string, to: string, version: string): Promise<boolean> {
    requireMove(from, to);
    const source = this.#pathOf(from);
    const pinned = this.#newUnfinished();
    try {
      if ((await link(source, pinned).then(() => pinned, undefinedIfMissing)) === undefined) {
        await this.check();
        return false;
      }
      if (!(await hasVersion(pinned, version))) return false;
      await this.#rename(pinned, this.#pathOf(to));
      if (await hasVersion(source, version)) await rm(source, { force: true });
      return true;
    } finally {
      // It is still there when `to` was this file already: a rename onto itself does nothing.
      await rm(pinned, { force: true });
    }
  }

  async delete(key: string): Promise<void> {
    const path = this.#pathOf(key);
    await this.check();
    await rm(path, { force: true });
    await syncFolder(dirname(path)).catch(undefinedIfMissing);
  }

  async *list(prefix: string, before: Date): AsyncGenerator<string, void, undefined> {
    await this.check();
    for await (const key of this.#keys()) {
      if (!key.startsWith(prefix)) continue;
      // Not the time of writing: an object that was moved just now is in use, however old its bytes are.
      const file = await findFile(this.#pathOf(key));
      if (file !== undefined && file.ctimeMs < before.getTime()) yield key;
    }
  }

  async removeUnfinished(before: Date): Promise<number> {
    let count = 0;
    for (const name of await listNames(this.#unfinished)) {
      const path = join(this.#unfinished, name);
      // Here too: the second name of an old file may have been made just now.
      const file = await findFile(path);
      if (file === undefined || file.ctimeMs >= before.getTime()) continue;
      await rm(path, { force: true });
      count += 1;
    }
    return count;
  }

  createUploadUrl(key: string): Promise<undefined> {
    requireObjectKey(key);
    return Promise.resolve(undefined);
  }

  /**
   * Also tells an empty mount point from the file system that belongs there. It is asked before an object is called
   * missing: else everything stored would look deleted.
   */
  async check(): Promise<void> {
    await access(this.#unfinished, constants.R_OK | constants.W_OK | constants.X_OK);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve();
  }

  /** Spread over 256 folders by a hash, for ids that are made one after the other begin alike. */
  #pathOf(key: string): string {
    requireObjectKey(key);
    const [folder = "", name = ""] = key.split("/");
    const share = createHash("sha256").update(key).digest("hex").slice(0, 2);
    return join(this.#root, folder, share, name);
  }

  /** Of files where we would look for them; a file system has things of its own in its root. */
  async *#keys(): AsyncGenerator<string, void, undefined> {
    for (const folder of await listNames(this.#root)) {
      if (!isObjectKey(`${folder}/a`)) continue;
      for (const share of await listNames(join(this.#root, folder))) {
        for (const name of await listNames(join(this.#root, folder, share))) {
          if (isObjectKey(`${folder}/${name}`)) yield `${folder}/${name}`;
        }
      }
    }
  }

  #newUnfinished(): string {
    return join(this.#unfinished, randomUUID());
  }

  async #rename(from: string, to: string): Promise<void> {
    const folder = dirname(to);
    await makeDurableFolder(folder, this.#root, this.#durableFolders);
    await rename(from, to);
    await syncFolder(folder);
  }
}

async function writeNewFile(path: string, bytes: AsyncIterable<Uint8Array>): Promise<StoredObject> {
  const file = await open(path, "wx", 0o600);
  try {
    await writeGathered(file, bytes);
    const writtenAt = nextWriteTime();
    await file.utimes(writtenAt, writtenAt);
    await file.sync();
    return toStoredObject(await file.stat({ bigint: true }));
  } finally {
    await file.close();
  }
}

/** A file stays readable after it was replaced or deleted: the reader gets what was there when it opened. */
async function readPart(
  file: FileHandle,
  { start, end }: { readonly start: number; readonly end: number },
  signal: AbortSignal | undefined,
): Promise<AsyncIterable<Uint8Array>> {
  if (start === end) {
    await file.close();
    return (async function* () {})();
  }
  const stream = file.createReadStream({
    start,
    end: end - 1,
    highWaterMark: READ_BYTES,
    ...(signal === undefined ? {} : { signal }),
  });
  // Whoever reads is told; before that, an abort must not end the process.
  stream.on("error", () => {});
  return stream;
}

async function hasVersion(path: string, version: string): Promise<boolean> {
  const file = await findFile(path);
  return file !== undefined && toStoredObject(file).version === version;
}
