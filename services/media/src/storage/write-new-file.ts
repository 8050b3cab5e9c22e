import { createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";

const DEFAULT_BUFFER_BYTES = 64 * 1024;

export interface WriteOptions {
  readonly bufferBytes?: number;
  readonly signal?: AbortSignal;
}

/**
 * Settles only when the file is closed, so that the caller can delete a partly written file:
 * `pipeline` alone may reject before the file system has created it.
 *
 * @throws The error of `bytes`, an `AbortError`, or an error of the file system.
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
