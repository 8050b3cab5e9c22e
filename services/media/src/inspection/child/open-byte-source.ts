import { readSync } from "node:fs";
import type { ByteSource } from "#src/domain/videos/byte-source.ts";

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
