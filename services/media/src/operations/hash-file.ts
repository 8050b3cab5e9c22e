import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";

const CHUNK_BYTES = 1024 * 1024;
const PROGRESS_BYTES = 32 * CHUNK_BYTES;

export interface HashedFile {
  readonly bytes: number;
  /** Lower-case hex. */
  readonly sha256: string;
}

/** Reads a file once; `onProgress` is called now and then, because a gigabyte takes its time. */
export async function hashFile(file: {
  readonly path: string;
  readonly onProgress: () => void;
}): Promise<HashedFile> {
  const hash = createHash("sha256");
  let bytes = 0;
  let told = 0;
  for await (const chunk of createReadStream(file.path, { highWaterMark: CHUNK_BYTES })) {
    hash.update(chunk);
    bytes += chunk.length;
    if (bytes - told < PROGRESS_BYTES) continue;
    told = bytes;
    file.onProgress();
  }
  return { bytes, sha256: hash.digest("hex") };
}
