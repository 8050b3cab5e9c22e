import type { BigIntStats, PathLike } from "node:fs";
import { mkdir, open, readdir, stat } from "node:fs/promises";
import { dirname } from "node:path";
import type { StoredObject } from "#src/storage/object-store.ts";

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}

export async function findFile(path: string): Promise<BigIntStats | undefined> {
  return await stat(path, { bigint: true }).catch(undefinedIfMissing);
}

/** Empty when the folder does not exist. Files may be added and deleted meanwhile. */
export async function listNames(folder: string): Promise<readonly string[]> {
  return (await readdir(folder).catch(undefinedIfMissing)) ?? [];
}

/** For `catch`: only a missing file is undefined. */
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
 * A modification time in seconds, different for every write in this process and most likely in all.
 * Times of the kernel are exact only to milliseconds: two versions of an object whose files have
 * the same inode number could look the same.
 */
export function nextWriteTime(): number {
  const now = Date.now() * 1000 + Math.floor(Math.random() * 1000);
  lastMicroseconds = Math.max(lastMicroseconds + 1, now);
  return lastMicroseconds / 1_000_000;
}

/** Otherwise a renamed file may be lost after a power failure. */
export async function syncFolder(folder: PathLike): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Makes the folders on the path durable; `done` contains those that are. */
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
