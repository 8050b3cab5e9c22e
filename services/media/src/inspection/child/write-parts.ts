import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import type { ImagePart } from "#src/domain/images/image-layout.ts";
import type { HashedFile } from "./hash-file.ts";

/** Writes a new image file that consists of ranges of `source` and of inserted bytes. */
export async function writeParts(
  source: Uint8Array,
  parts: readonly ImagePart[],
  target: string,
): Promise<HashedFile> {
  const hash = createHash("sha256");
  let bytes = 0;
  await using file = await open(target, "wx", 0o600);
  for (const part of parts) {
    const content = part instanceof Uint8Array ? part : source.subarray(part.start, part.end);
    hash.update(content);
    await file.writeFile(content);
    bytes += content.length;
  }
  return { bytes, sha256: hash.digest("hex") };
}
