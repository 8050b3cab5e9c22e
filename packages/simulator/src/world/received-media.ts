import { createHash } from "node:crypto";
import type { PostedMedia } from "#src/world/posts.ts";
import type { ReaderFiles } from "#src/world/reader-files.ts";

/**
 * A file that a simulated platform received. Its type comes from its bytes, not from what the
 * sender declared.
 */
export interface ReceivedMedia extends PostedMedia {
  /** MIME type of the received file, detected from its bytes. */
  readonly contentType: string;
  readonly bytes: number;
  /** Width of the image in pixels; absent for formats whose size the simulator does not read. */
  readonly width?: number;
  readonly height?: number;
}

type DetectedMedia = Omit<ReceivedMedia, "bytes" | "sha256">;

/**
 * Number of bytes at the start of a file in which the simulator looks for the file's type and an
 * image's size.
 */
const HEAD_BYTES = 256 * 1024;

function startsWith(head: Buffer, text: string, at = 0): boolean {
  return head.toString("latin1", at, at + text.length) === text;
}

function jpeg(head: Buffer): DetectedMedia {
  const detected: DetectedMedia = { kind: "image", contentType: "image/jpeg" };
  for (let at = 2; at + 9 < head.length && head[at] === 0xff; at += 2 + head.readUInt16BE(at + 2)) {
    const marker = head[at + 1] ?? 0;
    if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)) {
      return { ...detected, width: head.readUInt16BE(at + 7), height: head.readUInt16BE(at + 5) };
    }
  }
  return detected;
}

function png(head: Buffer): DetectedMedia {
  const isWhole = head.length >= 24;
  const size = isWhole ? { width: head.readUInt32BE(16), height: head.readUInt32BE(20) } : {};
  return { kind: "image", contentType: "image/png", ...size };
}

function gif(head: Buffer): DetectedMedia {
  const isWhole = head.length >= 10;
  const size = isWhole ? { width: head.readUInt16LE(6), height: head.readUInt16LE(8) } : {};
  return { kind: "gif", contentType: "image/gif", ...size };
}

function bmp(head: Buffer): DetectedMedia | undefined {
  if (head.length < 26) {
    return undefined;
  }
  // A negative height says that the rows are stored from top to bottom.
  const size = { width: head.readInt32LE(18), height: Math.abs(head.readInt32LE(22)) };
  return { kind: "image", contentType: "image/bmp", ...size };
}

function tiff(): DetectedMedia {
  return { kind: "image", contentType: "image/tiff" };
}

function riff(head: Buffer): DetectedMedia | undefined {
  return startsWith(head, "WEBP", 8) ? { kind: "image", contentType: "image/webp" } : undefined;
}

/** What a file is that starts with these bytes. */
const SIGNATURES: readonly (readonly [string, (head: Buffer) => DetectedMedia | undefined])[] = [
  ["\xff\xd8\xff", jpeg],
  ["\x89PNG\r\n\x1a\n", png],
  ["GIF87a", gif],
  ["GIF89a", gif],
  ["RIFF", riff],
  ["II*\0", tiff],
  ["MM\0*", tiff],
  ["BM", bmp],
  ["\x1a\x45\xdf\xa3", () => ({ kind: "video", contentType: "video/webm" })],
];

/**
 * Detects the type of a file from its first bytes; undefined when no simulated platform accepts
 * files of this type.
 */
function detectType(head: Buffer): DetectedMedia | undefined {
  if (startsWith(head, "ftyp", 4)) {
    const contentType = startsWith(head, "qt  ", 8) ? "video/quicktime" : "video/mp4";
    return { kind: "video", contentType };
  }
  return SIGNATURES.find(([signature]) => startsWith(head, signature))?.[1](head);
}

/** Maximum length in bytes of a file that is stored for readers. */
const MAX_KEPT_BYTES = 64_000_000;

/** The store of the simulator whose platform handles a call now; handlers are synchronous. */
let readerFiles: ReaderFiles | undefined;

/** Handles a platform call; the files that the call receives are stored for readers. */
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
  let head = Buffer.alloc(0);
  let bytes = 0;
  const kept: Buffer[] = [];
  for (const piece of pieces) {
    if (bytes <= MAX_KEPT_BYTES) {
      kept.push(piece);
    }
    hash.update(piece);
    bytes += piece.length;
    if (head.length < HEAD_BYTES) {
      head = Buffer.concat([head, piece.subarray(0, HEAD_BYTES - head.length)]);
    }
  }
  const detected = detectType(head);
  if (detected === undefined) {
    return undefined;
  }
  const sha256 = hash.digest("hex");
  if (bytes <= MAX_KEPT_BYTES) {
    readerFiles?.put(sha256, { contentType: detected.contentType, bytes: Buffer.concat(kept) });
  }
  return { ...detected, sha256, bytes };
}

/** The properties of a received file that the simulator's control API shows. */
export function toPosted({ kind, sha256 }: ReceivedMedia): PostedMedia {
  return { kind, sha256 };
}
