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
