/**
 * Minimum number of bytes per write call to a file. Chunks of a socket are small, and a write call costs more than
 * copying its bytes.
 */
const BATCH_BYTES = 1024 * 1024;
/**
 * Maximum number of chunks that are written to a file in one batch. A sender may send tiny chunks, and each chunk is an
 * object in memory.
 */
const BATCH_CHUNKS = 256;

/** The methods of Node's `FileHandle` with which `writeBatched` appends to a file. */
interface Appended {
  writev(chunks: readonly Uint8Array[]): Promise<{ readonly bytesWritten: number }>;
  writeFile(bytes: Uint8Array): Promise<void>;
}

/** Appends bytes to a file in batches. The next batch is collected while the previous batch is written. */
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
    // The write is awaited before the next batch is written. Until then its failure must not count as an unhandled
    // rejection.
    writing.catch(() => {});
    [chunks, collected] = [[], 0];
  }
  await writing;
  await writeAll(file, chunks, collected);
}

/**
 * Writes all bytes to a file. A nearly full disk may accept only a part of them; the attempt to write the rest then
 * reports the error.
 */
async function writeAll(
  file: Appended,
  chunks: readonly Uint8Array[],
  bytes: number,
): Promise<void> {
  if (bytes === 0) return;
  const { bytesWritten } = await file.writev(chunks);
  if (bytesWritten < bytes) await file.writeFile(Buffer.concat(chunks).subarray(bytesWritten));
}
