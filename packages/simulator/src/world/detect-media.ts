import { type Mp4Facts, readMp4 } from "#src/world/mp4.ts";
import type { PostedMedia } from "#src/world/posts.ts";

interface WebpFacts {
  readonly width?: number;
  readonly height?: number;
  readonly frames: number;
}

/** Position of the first chunk's name in a WebP file, after `RIFF`, the length and `WEBP`. */
const FIRST_CHUNK = 12;
/** Length in bytes of a WebP chunk's name and length. */
const CHUNK_HEAD = 8;
const FIRST_CONTENT = FIRST_CHUNK + CHUNK_HEAD;
/** Number of bytes at the start of a WebP file that contain the size, for every kind of WebP. */
const WEBP_HEAD_BYTES = 30;
const ANIMATION_FLAG = 0x02;
const SIDE_14_BITS = 0x3fff;

function textAt(file: Buffer, at: number): string {
  return file.toString("latin1", at, at + 4);
}

function countFrames(file: Buffer): number {
  let frames = 0;
  for (let at = FIRST_CHUNK; at + CHUNK_HEAD <= file.length;) {
    frames += textAt(file, at) === "ANMF" ? 1 : 0;
    const bytes = file.readUInt32LE(at + 4);
    // In a WebP file, one byte of padding follows a chunk of odd length.
    at += CHUNK_HEAD + bytes + (bytes % 2);
  }
  return frames;
}

/**
 * Reads the size and the number of frames of a WebP image, of each of its three kinds: lossy
 * (`VP8 `), lossless (`VP8L`) and extended (`VP8X`), which can be animated. Source: WebP Container
 * Specification; RFC 6386, section 9.1.
 */
function readWebp(file: Buffer): WebpFacts {
  if (file.length < WEBP_HEAD_BYTES) return { frames: 1 };
  switch (textAt(file, FIRST_CHUNK)) {
    case "VP8 ": {
      // In a `VP8 ` chunk, three bytes about the frame and a start code of three bytes precede the
      // size.
      const width = file.readUInt16LE(FIRST_CONTENT + 6) & SIDE_14_BITS;
      const height = file.readUInt16LE(FIRST_CONTENT + 8) & SIDE_14_BITS;
      return { width, height, frames: 1 };
    }
    case "VP8L": {
      const sides = file.readUInt32LE(FIRST_CONTENT + 1);
      const [width, height] = [sides & SIDE_14_BITS, (sides >>> 14) & SIDE_14_BITS];
      return { width: width + 1, height: height + 1, frames: 1 };
    }
    case "VP8X": {
      const isAnimated = ((file[FIRST_CONTENT] ?? 0) & ANIMATION_FLAG) !== 0;
      return {
        width: file.readUIntLE(FIRST_CONTENT + 4, 3) + 1,
        height: file.readUIntLE(FIRST_CONTENT + 7, 3) + 1,
        frames: isAnimated ? countFrames(file) : 1,
      };
    }
    default:
      return { frames: 1 };
  }
}

/** Length in bytes of a GIF's signature and screen description, which precede the colours. */
const HEAD_BYTES = 13;
/** Length in bytes of a GIF frame's description, including the byte that announces it. */
const FRAME_HEAD_BYTES = 10;
const EXTENSION = 0x21;
const FRAME = 0x2c;

function colourTableBytes(flags = 0): number {
  const hasTable = (flags & 0x80) !== 0;
  return hasTable ? 3 * 2 ** ((flags & 0x07) + 1) : 0;
}

/** Each block begins with its length; a block of length 0 ends the list. */
function afterBlocks(file: Buffer, start: number): number {
  let at = start;
  while ((file[at] ?? 0) > 0) at += (file[at] ?? 0) + 1;
  return at + 1;
}

function countGifFrames(file: Buffer): number {
  let frames = 0;
  let at = HEAD_BYTES + colourTableBytes(file[10]);
  for (;;)
    if (file[at] === EXTENSION) at = afterBlocks(file, at + 2);
    else if (file[at] === FRAME) {
      frames += 1;
      // In a GIF frame, one byte about the compression is between the colours and the pixels.
      at = afterBlocks(file, at + FRAME_HEAD_BYTES + colourTableBytes(file[at + 9]) + 1);
    } else return frames;
}

export interface DetectedMedia {
  readonly kind: PostedMedia["kind"];
  readonly contentType: string;
  readonly width?: number;
  readonly height?: number;
  /** More than 1 for an animation; only of GIF and WebP. */
  readonly frames?: number;
  readonly mp4?: Mp4Facts;
}

function startsWith(file: Buffer, text: string, at = 0): boolean {
  return file.toString("latin1", at, at + text.length) === text;
}

function jpeg(file: Buffer): DetectedMedia {
  const detected: DetectedMedia = { kind: "image", contentType: "image/jpeg" };
  for (let at = 2; at + 9 < file.length && file[at] === 0xff; at += 2 + file.readUInt16BE(at + 2)) {
    const marker = file[at + 1] ?? 0;
    if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker))
      return { ...detected, width: file.readUInt16BE(at + 7), height: file.readUInt16BE(at + 5) };
  }
  return detected;
}

function png(file: Buffer): DetectedMedia {
  const isWhole = file.length >= 24;
  const size = isWhole ? { width: file.readUInt32BE(16), height: file.readUInt32BE(20) } : {};
  return { kind: "image", contentType: "image/png", ...size };
}

function gif(file: Buffer): DetectedMedia {
  const isWhole = file.length >= 10;
  const size = isWhole ? { width: file.readUInt16LE(6), height: file.readUInt16LE(8) } : {};
  return { kind: "gif", contentType: "image/gif", ...size, frames: countGifFrames(file) };
}

function bmp(file: Buffer): DetectedMedia | undefined {
  if (file.length < 26) return undefined;
  // In a BMP, a negative height means that the rows are stored from top to bottom.
  const size = { width: file.readInt32LE(18), height: Math.abs(file.readInt32LE(22)) };
  return { kind: "image", contentType: "image/bmp", ...size };
}

function tiff(): DetectedMedia {
  return { kind: "image", contentType: "image/tiff" };
}

function riff(file: Buffer): DetectedMedia | undefined {
  return startsWith(file, "WEBP", 8)
    ? { kind: "image", contentType: "image/webp", ...readWebp(file) }
    : undefined;
}

/**
 * The types of files that begin with a box `ftyp`, by the brand in that box; files of all other
 * brands are MP4 videos.
 */
const BRANDS: ReadonlyMap<string, string> = new Map([
  ["qt  ", "video/quicktime"],
  ["heic", "image/heic"],
  ["heix", "image/heic"],
  ["heim", "image/heic"],
  ["heis", "image/heic"],
  ["hevc", "image/heic"],
  ["hevx", "image/heic"],
  ["mif1", "image/heif"],
  ["msf1", "image/heif"],
  ["avif", "image/avif"],
  ["avis", "image/avif"],
]);

function isoMedia(file: Buffer): DetectedMedia {
  const contentType = BRANDS.get(file.toString("latin1", 8, 12)) ?? "video/mp4";
  if (contentType.startsWith("image/")) return { kind: "image", contentType };
  return { kind: "video", contentType, ...readMp4(file) };
}

const SIGNATURES: readonly (readonly [string, (file: Buffer) => DetectedMedia | undefined])[] = [
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

/** Undefined when no platform accepts such files. The beginning of a large file is enough. */
export function detectMedia(file: Buffer): DetectedMedia | undefined {
  if (startsWith(file, "ftyp", 4)) return isoMedia(file);
  return SIGNATURES.find(([signature]) => startsWith(file, signature))?.[1](file);
}
