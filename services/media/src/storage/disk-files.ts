import type { BigIntStats, PathLike } from "node:fs";
import { mkdir, open, readdir, stat } from "node:fs/promises";
import { dirname } from "node:path";
import type { StoredObject } from "#src/storage/object-store.ts";

/** What a file system answers when there is no such file, or no folder that it could be in. */
function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}

/** The file's facts; undefined when it is not there. */
export async function findFile(path: string): Promise<BigIntStats | undefined> {
  return await stat(path, { bigint: true }).catch(undefinedIfMissing);
}

/** The names in a folder, none when it is not there. A snapshot: files may come and go meanwhile. */
export async function listNames(folder: string): Promise<readonly string[]> {
  return (await readdir(folder).catch(undefinedIfMissing)) ?? [];
}

/** For `catch`: a missing file is an answer, everything else is not. */
export function undefinedIfMissing(error: unknown): undefined {
  if (!isMissing(error)) throw error;
  return undefined;
}

export function toStoredObject({ ino, mtimeNs, size }: BigIntStats): StoredObject {
  return {
    bytes: Number(size),
    version: [ino, mtimeNs, size].map((value) => value.toString(36)).join("-"),
  };
}

let lastMicroseconds = 0;

/**
 * A time of writing, in seconds, that no other file of this process gets, and hardly one of another process. The
 * kernel's own has steps of milliseconds: with a reused inode number, two versions of a key could look the same.
 */
export function nextWriteTime(): number {
  const now = Date.now() * 1000 + Math.floor(Math.random() * 1000);
  lastMicroseconds = Math.max(lastMicroseconds + 1, now);
  return lastMicroseconds / 1_000_000;
}

/** Makes a folder's entries durable: without it a renamed file may be gone after a power failure. */
export async function syncFolder(folder: PathLike): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Makes a folder below `root` and the entries that lead to it durable; `done` remembers for which that is so. */
export async function makeDurableFolder(
  folder: string,
  root: string,
  done: Set<string>,
): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if (done.has(folder)) return;
  for (let parent = dirname(folder); parent.startsWith(root); parent = dirname(parent)) {
    await syncFolder(parent);
  }
  done.add(folder);
}
