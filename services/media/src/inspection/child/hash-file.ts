import { createHash } from "node:crypto";
import { readChunks } from "./read-chunks.ts";

const PROGRESS_BYTES = 32 * 1024 * 1024;

export interface HashedFile {
  readonly bytes: number;
  readonly sha256: string;
}

/** Reports progress every 32 MiB, so that a large file does not exceed the time limit. */
export async function hashFile(file: {
  readonly fd: number;
  readonly onProgress: () => void;
}): Promise<HashedFile> {
  const hash = createHash("sha256");
  let bytes = 0;
  let reportedBytes = 0;
  for await (const chunk of readChunks(file.fd)) {
    hash.update(chunk);
    bytes += chunk.length;
    if (bytes - reportedBytes < PROGRESS_BYTES) continue;
    reportedBytes = bytes;
    file.onProgress();
  }
  return { bytes, sha256: hash.digest("hex") };
}
