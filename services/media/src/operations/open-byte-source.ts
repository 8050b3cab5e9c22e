import { readSync } from "node:fs";
import type { ByteSource } from "#src/domain/byte-source.ts";

/** Most reads are of a few bytes near the last ones. */
const WINDOW_BYTES = 64 * 1024;

/** A file for the readers of films: read in place, by blocks, without waiting, in a process that does nothing else. */
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
