import { createHash } from "node:crypto";
import type { PostedMedia } from "#src/world/posts.ts";

/** A file as a platform received it: what its bytes are, whatever was said about them. */
export interface ReceivedMedia extends PostedMedia {
  /** By the bytes. */
  readonly contentType: string;
  readonly bytes: number;
  /** Pixels; absent where the simulator does not look for them. */
  readonly width?: number;
  readonly height?: number;
}

type Found = Omit<ReceivedMedia, "bytes" | "sha256">;

/** Bytes that a file's type, and an image's size, are told by. */
const HEAD_BYTES = 256 * 1024;

function startsWith(head: Buffer, text: string, at = 0): boolean {
  return head.toString("latin1", at, at + text.length) === text;
}

function jpeg(head: Buffer): Found {
  const found: Found = { kind: "image", contentType: "image/jpeg" };
  for (let at = 2; at + 9 < head.length && head[at] === 0xff; at += 2 + head.readUInt16BE(at + 2)) {
    const marker = head[at + 1] ?? 0;
    if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)) {
      return { ...found, width: head.readUInt16BE(at + 7), height: head.readUInt16BE(at + 5) };
    }
  }
  return found;
}

function png(head: Buffer): Found {
  const isWhole = head.length >= 24;
  const size = isWhole ? { width: head.readUInt32BE(16), height: head.readUInt32BE(20) } : {};
  return { kind: "image", contentType: "image/png", ...size };
}

function gif(head: Buffer): Found {
  const isWhole = head.length >= 10;
  const size = isWhole ? { width: head.readUInt16LE(6), height: head.readUInt16LE(8) } : {};
  return { kind: "gif", contentType: "image/gif", ...size };
}

/** What a file is by its first bytes; undefined for what no platform takes. */
function recognize(head: Buffer): Found | undefined {
  if (startsWith(head, "\xff\xd8\xff")) {
    return jpeg(head);
  }
  if (startsWith(head, "\x89PNG\r\n\x1a\n")) {
    return png(head);
  }
  if (startsWith(head, "GIF87a") || startsWith(head, "GIF89a")) {
    return gif(head);
  }
  if (startsWith(head, "RIFF") && startsWith(head, "WEBP", 8)) {
    return { kind: "image", contentType: "image/webp" };
  }
  if (startsWith(head, "\x1a\x45\xdf\xa3")) {
    return { kind: "video", contentType: "video/webm" };
  }
  if (startsWith(head, "ftyp", 4)) {
    const contentType = startsWith(head, "qt  ", 8) ? "video/quicktime" : "video/mp4";
    return { kind: "video", contentType };
  }
  return undefined;
}

/** What a platform got, of one piece or of several that follow each other; undefined if it is no image and no video. */
export function receive(pieces: Iterable<Buffer>): ReceivedMedia | undefined {
  const hash = createHash("sha256");
  let head = Buffer.alloc(0);
  let bytes = 0;
  for (const piece of pieces) {
    hash.update(piece);
    bytes += piece.length;
    if (head.length < HEAD_BYTES) {
      head = Buffer.concat([head, piece.subarray(0, HEAD_BYTES - head.length)]);
    }
  }
  const found = recognize(head);
  return found === undefined ? undefined : { ...found, sha256: hash.digest("hex"), bytes };
}

/** What the inspector shows of it. */
export function toPosted({ kind, sha256 }: ReceivedMedia): PostedMedia {
  return { kind, sha256 };
}
