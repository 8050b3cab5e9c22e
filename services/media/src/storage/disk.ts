import { createHash, randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { access, type FileHandle, link, mkdir, open, realpath, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { abortable } from "#src/storage/at-minimum-rate.ts";
import {
  findFile,
  listNames,
  makeDurableFolder,
  nextWriteTime,
  syncFolder,
  toStoredObject,
  undefinedIfMissing,
  writeBatched,
} from "#src/storage/disk-files.ts";
import type { ByteRange, ObjectStore, StoredObject } from "#src/storage/object-store.ts";
import {
  clipRange,
  isObjectKey,
  requireMove,
  requireObjectKey,
  requireRange,
} from "#src/storage/store-arguments.ts";

/** Keys cannot collide with it, because none starts with a dot. */
const UNFINISHED = ".unfinished";
const READ_BYTES = 256 * 1024;

/**
 * The folder must be on one local file system with hard links and contain nothing else. Several
 * processes of one machine may share it.
 */
export async function openDiskStore(folder: string): Promise<ObjectStore> {
  await mkdir(join(folder, UNFINISHED), { recursive: true, mode: 0o700 });
  const store = new DiskStore(await realpath(folder));
  await store.check();
  return store;
}

class DiskStore implements ObjectStore {
  readonly hasUploadUrls = false;
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
      const stored = await writeDurably(unfinished, abortable(bytes, signal));
      signal?.throwIfAborted();
      await this.#rename(unfinished, path);
      return stored;
    } finally {
      // After a successful write the file has been renamed, so this deletes nothing.
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
      return { ...stored, content: await readRange(file, clipRange(range, stored.bytes), signal) };
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
   * A hard link keeps the file whose version was compared, so that this version is moved even if
   * the source is replaced. The source is deleted last, so that a crash loses nothing.
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
      // Renaming has no effect if both are hard links to the same file.
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
      // ctime: the move of an old object does not change its modification time.
      const file = await findFile(this.#pathOf(key));
      if (file !== undefined && file.ctimeMs < before.getTime()) yield key;
    }
  }

  async removeUnfinished(before: Date): Promise<number> {
    let count = 0;
    for (const name of await listNames(this.#unfinished)) {
      const path = join(this.#unfinished, name);
      // ctime: a move may just have created the file as a hard link to an old object.
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
   * Throws when the file system is not mounted: on an empty mount point every object would appear
   * deleted.
   */
  async check(): Promise<void> {
    await access(this.#unfinished, constants.R_OK | constants.W_OK | constants.X_OK);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve();
  }

  /**
   * A hash distributes the objects over 256 folders, because consecutive ids share their first
   * characters.
   */
  #pathOf(key: string): string {
    requireObjectKey(key);
    const [folder = "", name = ""] = key.split("/");
    const shard = createHash("sha256").update(key).digest("hex").slice(0, 2);
    return join(this.#root, folder, shard, name);
  }

  /** Files that the store did not create, such as `lost+found`, are ignored. */
  async *#keys(): AsyncGenerator<string, void, undefined> {
    for (const folder of await listNames(this.#root)) {
      if (!isObjectKey(`${folder}/a`)) continue;
      for (const shard of await listNames(join(this.#root, folder)))
        for (const name of await listNames(join(this.#root, folder, shard)))
          if (isObjectKey(`${folder}/${name}`)) yield `${folder}/${name}`;
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

async function writeDurably(path: string, bytes: AsyncIterable<Uint8Array>): Promise<StoredObject> {
  const file = await open(path, "wx", 0o600);
  try {
    await writeBatched(file, bytes);
    const writtenAt = nextWriteTime();
    await file.utimes(writtenAt, writtenAt);
    await file.sync();
    return toStoredObject(await file.stat({ bigint: true }));
  } finally {
    await file.close();
  }
}

/**
 * An open file stays readable after it was replaced or deleted, so a reader gets the version that
 * it opened.
 */
async function readRange(
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
  // Without this listener, an abort before the first read would end the process.
  stream.on("error", () => {});
  return stream;
}

async function hasVersion(path: string, version: string): Promise<boolean> {
  const file = await findFile(path);
  return file !== undefined && toStoredObject(file).version === version;
}
