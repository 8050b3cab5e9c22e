import { createReadStream } from "node:fs";

const CHUNK_BYTES = 1024 * 1024;

export function readChunks(fd: number): AsyncIterable<Buffer> {
  return createReadStream("", { fd, start: 0, autoClose: false, highWaterMark: CHUNK_BYTES });
}
