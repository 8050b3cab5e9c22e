import { createHash } from "node:crypto";
import { type DetectedMedia, detectMedia } from "#src/world/detect-media.ts";
import type { PostedMedia } from "#src/world/posts.ts";

interface ReaderFile {
  readonly contentType: string;
  readonly bytes: Buffer;
}

const MAX_BYTES = 256_000_000;

/** Only in memory: after a restart of the simulator, earlier posts have no files. */
export class ReaderFiles {
  readonly #files = new Map<string, ReaderFile>();
  #bytes = 0;

  put(sha256: string, file: ReaderFile): void {
    if (file.bytes.length > MAX_BYTES || this.#files.has(sha256)) return;
    this.#files.set(sha256, file);
    this.#bytes += file.bytes.length;
    for (const [oldest, { bytes }] of this.#files) {
      if (this.#bytes <= MAX_BYTES) return;
      this.#files.delete(oldest);
      this.#bytes -= bytes.length;
    }
  }

  get(sha256: string): ReaderFile | undefined {
    return this.#files.get(sha256);
  }

  clear(): void {
    this.#files.clear();
    this.#bytes = 0;
  }
}

/** Its type comes from its bytes, not from what the sender declared. */
export interface ReceivedMedia extends PostedMedia, DetectedMedia {
  readonly kind: PostedMedia["kind"];
  readonly bytes: number;
}

const MAX_KEPT_BYTES = 64_000_000;
/** Number of first bytes of a larger file that are searched for its type and size. */
const HEAD_BYTES = 256 * 1024;

/** One variable is enough, because handlers are synchronous. */
let readerFiles: ReaderFiles | undefined;

export function storingFiles<T>(files: ReaderFiles, handle: () => T): T {
  readerFiles = files;
  try {
    return handle();
  } finally {
    readerFiles = undefined;
  }
}

/** Undefined when the file is neither an image nor a video. */
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

export function toPosted({ kind, sha256 }: ReceivedMedia): PostedMedia {
  return { kind, sha256 };
}
