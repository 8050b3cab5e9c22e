import type { BigIntStats, PathLike } from "node:fs";
import { mkdir, open, readdir, stat } from "node:fs/promises";
import { dirname } from "node:path";
import type { StoredObject } from "#src/storage/object-store.ts";

/** Whether an error says that a file, or a folder on its path, does not exist. */
function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}

/** Returns the metadata of a file; undefined when the file does not exist. */
export async function findFile(path: string): Promise<BigIntStats | undefined> {
  return await stat(path, { bigint: true }).catch(undefinedIfMissing);
}

/**
 * Returns the names of the entries of a folder; an empty list when the folder does not exist. Files may be added and
 * deleted meanwhile.
 */
export async function listNames(folder: string): Promise<readonly string[]> {
  return (await readdir(folder).catch(undefinedIfMissing)) ?? [];
}

/** Handler for `catch`: returns undefined when the error says that a file is missing, and rethrows every other error. */
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
 * Returns a modification time for a file, in seconds, that is different for every write in this process and most likely
 * in all processes. The times of the kernel are only exact to milliseconds: with them, two versions of an object whose
 * files have the same inode number could look the same.
 */
export function nextWriteTime(): number {
  const now = Date.now() * 1000 + Math.floor(Math.random() * 1000);
  lastMicroseconds = Math.max(lastMicroseconds + 1, now);
  return lastMicroseconds / 1_000_000;
}

/** Makes the entries of a folder durable. Without this, a renamed file may be lost after a power failure. */
export async function syncFolder(folder: PathLike): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * Creates a folder below `root` and makes the folders on its path durable. `done` contains the folders that are durable
 * already.
 */
export async function makeDurableFolder(
  folder: string,
  root: string,
  done: Set<string>,
): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if (done.has(folder)) return;
  for (let parent = dirname(folder); parent.startsWith(root); parent = dirname(parent))
    await syncFolder(parent);

  done.add(folder);
}
