import { createHash } from "node:crypto";
import { type DetectedMedia, detectMedia } from "#src/world/detect-media.ts";
import type { PostedMedia } from "#src/world/posts.ts";
import type { ReaderFiles } from "#src/world/reader-files.ts";

/**
 * A file that a simulated platform received. Its type comes from its bytes, not from what the
 * sender declared.
 */
export interface ReceivedMedia extends PostedMedia, DetectedMedia {
  readonly kind: PostedMedia["kind"];
  readonly bytes: number;
}

/** Maximum length in bytes of a file that is stored for readers. */
const MAX_KEPT_BYTES = 64_000_000;
/**
 * Number of bytes at the beginning of a file that the simulator keeps when the file is too large to be stored for
 * readers. In these bytes it looks for the type and size of the file.
 */
const HEAD_BYTES = 256 * 1024;

/** The store for files that the current platform call receives. One variable is enough, because handlers are synchronous. */
let readerFiles: ReaderFiles | undefined;

/** Handles a platform call, and stores the files that the call receives for readers. */
export function storingFiles<T>(files: ReaderFiles, handle: () => T): T {
  readerFiles = files;
  try {
    return handle();
  } finally {
    readerFiles = undefined;
  }
}

/**
 * Detects the type of a file that a simulated platform received in one or several consecutive
 * parts, and hashes the file; undefined when the file is neither an image nor a video.
 */
export function receive(pieces: Iterable<Buffer>): ReceivedMedia | undefined {
  const hash = createHash("sha256");
  let bytes = 0;
  const kept: Buffer[] = [];
  for (const piece of pieces) {
    if (bytes <= MAX_KEPT_BYTES) kept.push(piece);

    hash.update(piece);
    bytes += piece.length;
  }
  const isKept = bytes <= MAX_KEPT_BYTES;
  const file = Buffer.concat(kept, isKept ? bytes : HEAD_BYTES);
  const detected = detectMedia(file);
  if (detected === undefined) return undefined;

  const sha256 = hash.digest("hex");
  if (isKept) readerFiles?.put(sha256, { contentType: detected.contentType, bytes: file });

  return { ...detected, sha256, bytes };
}

/** The properties of a received file that the simulator's control API shows. */
export function toPosted({ kind, sha256 }: ReceivedMedia): PostedMedia {
  return { kind, sha256 };
}
