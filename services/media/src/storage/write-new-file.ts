import { createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";

const DEFAULT_BUFFER_BYTES = 64 * 1024;

export interface WriteOptions {
  /** Maximum number of bytes that are buffered in memory while others are written; 64 KB by default. */
  readonly bufferBytes?: number;
  /** The write fails when this signal is aborted. */
  readonly signal?: AbortSignal;
}

/**
 * Writes bytes to a new file, which must not exist yet. The promise settles only when the file is closed, also if the write
 * failed, so that the caller can then delete the partly written file. `pipeline` alone may reject before the file system has
 * created the file, which would appear after the caller deleted it.
 *
 * @throws The error of `bytes`, an `AbortError` when the signal is aborted, or an error of the file system.
 */
export async function writeNewFile(
  path: string,
  bytes: AsyncIterable<Uint8Array>,
  { bufferBytes = DEFAULT_BUFFER_BYTES, signal }: WriteOptions = {},
): Promise<void> {
  const file = createWriteStream(path, { flags: "wx", mode: 0o600, highWaterMark: bufferBytes });
  const closed = new Promise<void>((resolve) => file.once("close", resolve));
  try {
    await pipeline(bytes, file, { signal });
  } finally {
    await closed;
  }
}
