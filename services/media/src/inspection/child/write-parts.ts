import { createHash } from "node:crypto";
import { writeSync } from "node:fs";
import type { ImagePart } from "#src/domain/images/image-layout.ts";
import type { HashedFile } from "./hash-file.ts";

/** Writes an image that consists of ranges of `source` and of inserted bytes to an open, empty file. */
export function writeParts(
  source: Uint8Array,
  parts: readonly ImagePart[],
  target: number,
): HashedFile {
  const hash = createHash("sha256");
  let bytes = 0;
  for (const part of parts) {
    const content = part instanceof Uint8Array ? part : source.subarray(part.start, part.end);
    hash.update(content);
    for (let at = 0; at < content.length;)
      at += writeSync(target, content, at, content.length - at, bytes + at);
    bytes += content.length;
  }
  return { bytes, sha256: hash.digest("hex") };
}
