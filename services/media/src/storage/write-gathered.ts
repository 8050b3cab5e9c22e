/** So much goes to the disk with one call: what a socket brings at once is small, and a call costs more than its bytes. */
const WRITE_BYTES = 1024 * 1024;
/** A sender may make its pieces as small as it likes; each is an object in memory. */
const WRITE_PIECES = 256;

/** What this needs of a `FileHandle`. */
interface Appended {
  writev(pieces: readonly Uint8Array[]): Promise<{ readonly bytesWritten: number }>;
  writeFile(bytes: Uint8Array): Promise<void>;
}

/** Writes the bytes to the end of the file. The next ones are awaited while those before are being written. */
export async function writeGathered(
  file: Appended,
  bytes: AsyncIterable<Uint8Array>,
): Promise<void> {
  let writing = Promise.resolve();
  let pieces: Uint8Array[] = [];
  let gathered = 0;
  for await (const piece of bytes) {
    pieces.push(piece);
    gathered += piece.length;
    if (gathered < WRITE_BYTES && pieces.length < WRITE_PIECES) continue;
    await writing;
    writing = writeAll(file, pieces, gathered);
    // It is awaited with the next piece, which may be long in coming, or fail.
    writing.catch(() => {});
    [pieces, gathered] = [[], 0];
  }
  await writing;
  await writeAll(file, pieces, gathered);
}

/** A disk that is getting full takes a part, and says why with the next call. */
async function writeAll(
  file: Appended,
  pieces: readonly Uint8Array[],
  bytes: number,
): Promise<void> {
  if (bytes === 0) return;
  const { bytesWritten } = await file.writev(pieces);
  if (bytesWritten < bytes) await file.writeFile(Buffer.concat(pieces).subarray(bytesWritten));
}
