import { createHash } from "node:crypto";
import { createReadStream, readSync, writeSync } from "node:fs";
import type { ByteSource } from "#src/domain/videos/video-layout.ts";
import { type InspectionLimits, OUTPUT_FD } from "#src/inspection/inspection-protocol.ts";

export interface OpenFile {
  readonly fd: number;
  readonly bytes: number;
  readonly contentType: string;
  readonly limits: InspectionLimits;
  /** Restarts the time limit; called after each step whose duration grows with the file. */
  readonly onProgress: () => void;
}

export interface OpenImage extends OpenFile {
  readonly content: Buffer;
}

/** Most reads are a few bytes long and close to the previous read. */
const WINDOW_BYTES = 64 * 1024;

/** Reads are synchronous, because the process has nothing else to do. */
export function openByteSource(fd: number, bytes: number): ByteSource {
  const window = Buffer.alloc(WINDOW_BYTES);
  let start = 0;
  let length = 0;
  return {
    bytes,
    read: (offset, wanted) => {
      if (wanted > WINDOW_BYTES) return readLong(fd, offset, Math.min(wanted, bytes - offset));
      if (offset < start || offset + wanted > start + length) {
        start = offset;
        length = readSync(fd, window, 0, WINDOW_BYTES, offset);
      }
      return window.subarray(offset - start, Math.min(length, offset - start + wanted));
    },
  };
}

function readLong(fd: number, offset: number, wanted: number): Buffer {
  const bytes = Buffer.alloc(Math.max(0, wanted));
  return bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, offset));
}

const CHUNK_BYTES = 1024 * 1024;

export function readChunks(fd: number): AsyncIterable<Buffer> {
  return createReadStream("", { fd, start: 0, autoClose: false, highWaterMark: CHUNK_BYTES });
}

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

/** The files of several renditions are appended to it. */
export class OutputFile {
  #end = 0;

  append(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length;)
      at += writeSync(OUTPUT_FD, bytes, at, bytes.length - at, this.#end + at);
    this.#end += bytes.length;
  }
}
