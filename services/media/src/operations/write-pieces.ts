import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import type { Piece } from "#src/domain/image-layout.ts";
import type { HashedFile } from "./hash-file.ts";

/** Writes a new file of parts of `source` and other bytes. */
export async function writePieces(
  source: Uint8Array,
  pieces: readonly Piece[],
  target: string,
): Promise<HashedFile> {
  const hash = createHash("sha256");
  let bytes = 0;
  await using file = await open(target, "wx", 0o600);
  for (const piece of pieces) {
    const part = piece instanceof Uint8Array ? piece : source.subarray(piece.start, piece.end);
    hash.update(part);
    await file.writeFile(part);
    bytes += part.length;
  }
  return { bytes, sha256: hash.digest("hex") };
}
