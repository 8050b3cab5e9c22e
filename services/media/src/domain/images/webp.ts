import { unreadable } from "#src/domain/media-rejected.ts";
import {
  hasTrailingBytes,
  orientationExif,
  type ImageLayout,
  type ImagePart,
} from "./image-layout.ts";

const MAX_CHUNKS = 100_000;
const KEPT = new Set(["VP8 ", "VP8L", "VP8X", "ALPH", "ANIM", "ANMF", "ICCP"]);
const EXIF_FLAG = 0x08;
const XMP_FLAG = 0x04;

interface Chunk {
  readonly type: string;
  readonly start: number;
  readonly bytes: number;
  /** Includes the padding. */
  readonly end: number;
}

/** Reads the structure of a WebP (RFC 9649, section 2). */
export function readWebp(file: Buffer): ImageLayout {
  if (file.length < 20) throw unreadable("The WebP ends within its header.");
  const end = 8 + file.readUInt32LE(4);
  if (end > file.length) throw unreadable("The WebP is truncated.");
  const chunks = readChunks(file, 12, end);
  const { width, height } = readCanvas(file, chunks);
  const frames = chunks.filter(({ type }) => type === "ANMF").length;
  const isLossless = containsLossless(file, chunks);
  const pixels = width * height;
  return {
    width,
    height,
    frames: Math.max(1, frames),
    totalPixels: pixels * Math.max(1, frames),
    // A lossless WebP and each animation frame are held as a whole; frames are also drawn on a
    // canvas.
    decodeBytes: pixels * (frames > 0 ? 12 : isLossless ? 4 : 0),
    lossless: isLossless,
    hasMetadata: hasTrailingBytes(file, end) || chunks.some(({ type }) => !KEPT.has(type)),
    withoutMetadata: (orientation) => rebuild(file, chunks, frames > 0 ? 1 : orientation),
  };
}

function readChunks(file: Buffer, first: number, end: number): Chunk[] {
  const chunks: Chunk[] = [];
  let at = first;
  while (at < end) {
    if (at + 8 > end) throw unreadable("A chunk of the WebP is truncated.");
    const bytes = file.readUInt32LE(at + 4);
    const chunkEnd = at + 8 + bytes;
    if (chunkEnd > end) throw unreadable("A chunk of the WebP is truncated.");
    if (chunks.length >= MAX_CHUNKS)
      throw unreadable(`The WebP has more than ${MAX_CHUNKS} chunks.`);

    const type = file.toString("latin1", at, at + 4);
    at = Math.min(end, chunkEnd + (bytes & 1));
    chunks.push({ type, start: chunkEnd - 8 - bytes, bytes, end: at });
  }
  return chunks;
}

function readCanvas(file: Buffer, chunks: readonly Chunk[]): { width: number; height: number } {
  const [first] = chunks;
  if (first === undefined || first.bytes < 10) throw unreadable("The WebP has no image.");
  const at = first.start + 8;
  if (first.type === "VP8X")
    return { width: 1 + file.readUIntLE(at + 4, 3), height: 1 + file.readUIntLE(at + 7, 3) };

  if (first.type === "VP8 ")
    return {
      width: file.readUInt16LE(at + 6) & 0x3fff,
      height: file.readUInt16LE(at + 8) & 0x3fff,
    };

  if (first.type !== "VP8L") throw unreadable("The WebP has no image.");
  const bits = file.readUInt32LE(at + 1);
  return { width: 1 + (bits & 0x3fff), height: 1 + ((bits >>> 14) & 0x3fff) };
}

function containsLossless(file: Buffer, chunks: readonly Chunk[]): boolean {
  return chunks.some(({ type, start, end }) => {
    if (type === "VP8L") return true;
    return type === "ANMF" && file.subarray(start, end).includes("VP8L");
  });
}

function rebuild(
  file: Buffer,
  chunks: readonly Chunk[],
  orientation: number,
): readonly ImagePart[] {
  const isExtended = chunks[0]?.type === "VP8X";
  const exif = orientation === 1 || !isExtended ? [] : [exifChunk(orientation)];
  const parts: ImagePart[] = chunks
    .filter(({ type }) => KEPT.has(type))
    .map(({ type, start, end }) => {
      if (type !== "VP8X") return { start, end };
      const header = Buffer.from(file.subarray(start, end));
      const flags = (header[8] ?? 0) & ~(EXIF_FLAG | XMP_FLAG);
      header[8] = exif.length > 0 ? flags | EXIF_FLAG : flags;
      return header;
    });
  parts.push(...exif);
  const bytes = parts.reduce((total, part) => total + partBytes(part), 4);
  const riff = Buffer.from("RIFF\0\0\0\0WEBP", "latin1");
  riff.writeUInt32LE(bytes, 4);
  return [riff, ...parts];
}

function partBytes(part: ImagePart): number {
  return part instanceof Uint8Array ? part.length : part.end - part.start;
}

function exifChunk(orientation: number): Uint8Array {
  const exif = orientationExif(orientation);
  const head = Buffer.from("EXIF\0\0\0\0", "latin1");
  head.writeUInt32LE(exif.length, 4);
  return Buffer.concat([head, exif]);
}
