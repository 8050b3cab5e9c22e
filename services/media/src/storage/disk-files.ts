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

/** Chunks of a socket are small, and a write call costs more than copying. */
const BATCH_BYTES = 1024 * 1024;
/** A sender may send tiny chunks, and each is an object in memory. */
const BATCH_CHUNKS = 256;

interface Appended {
  writev(chunks: readonly Uint8Array[]): Promise<{ readonly bytesWritten: number }>;
  writeFile(bytes: Uint8Array): Promise<void>;
}

/** The next batch is collected while the previous one is written. */
export async function writeBatched(
  file: Appended,
  bytes: AsyncIterable<Uint8Array>,
): Promise<void> {
  let writing = Promise.resolve();
  let chunks: Uint8Array[] = [];
  let collected = 0;
  for await (const chunk of bytes) {
    chunks.push(chunk);
    collected += chunk.length;
    if (collected < BATCH_BYTES && chunks.length < BATCH_CHUNKS) continue;
    await writing;
    writing = writeAll(file, chunks, collected);
    // Awaited before the next batch; until then a failure must not count as unhandled.
    writing.catch(() => {});
    [chunks, collected] = [[], 0];
  }
  await writing;
  await writeAll(file, chunks, collected);
}

/** A nearly full disk may accept only a part; writing the rest then reports the error. */
async function writeAll(
  file: Appended,
  chunks: readonly Uint8Array[],
  bytes: number,
): Promise<void> {
  if (bytes === 0) return;
  const { bytesWritten } = await file.writev(chunks);
  if (bytesWritten < bytes) await file.writeFile(Buffer.concat(chunks).subarray(bytesWritten));
}
