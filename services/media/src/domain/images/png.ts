import { unreadable } from "#src/domain/media-rejected.ts";
import { hasTrailingBytes, type ImageLayout, orientationExif } from "./image-layout.ts";

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});

/** The CRC-32 of PNG (ISO 3309). */
function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = (TABLE[(crc ^ byte) & 255] ?? 0) ^ (crc >>> 8);
  return (crc ^ 0xffffffff) >>> 0;
}

const SIGNATURE_BYTES = 8;
const MAX_CHUNKS = 100_000;
const CHANNELS: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 4, 4: 2, 6: 4 };
const TEXT = new Set(["tEXt", "zTXt", "iTXt"]);
/** Text that only names the program or the time of writing. */
const HARMLESS_KEYWORDS = new Set(["Software", "Creation Time", "date:create", "date:modify"]);
/** Chunks that affect how the image looks. All others are removed together with the metadata. */
const KEPT = new Set(
  "IHDR PLTE IDAT IEND tRNS gAMA cHRM sRGB iCCP cICP mDCV cLLI sBIT bKGD pHYs acTL fcTL fdAT".split(
    " ",
  ),
);

interface Chunk {
  readonly type: string;
  readonly start: number;
  readonly end: number;
}

/**
 * Reads the structure of a PNG and the checksums of all chunks (W3C PNG, third edition, section 5).
 */
export function readPng(file: Buffer): ImageLayout {
  const chunks = readChunks(file);
  const [header] = chunks;
  if (header?.type !== "IHDR" || header.end - header.start !== 25)
    throw unreadable("The PNG does not start with its header.");

  if (!chunks.some(({ type }) => type === "IDAT")) throw unreadable("The PNG has no image data.");
  const end = chunks.at(-1)?.end ?? 0;
  return {
    ...readHeader(file),
    frames: countFrames(file, chunks),
    lossless: true,
    hasMetadata: hasTrailingBytes(file, end) || chunks.some((chunk) => isPersonal(file, chunk)),
    withoutMetadata: (orientation) => [
      { start: 0, end: header.end },
      ...(orientation === 1 ? [] : [exifChunk(orientation)]),
      ...chunks.slice(1).filter(({ type }) => KEPT.has(type)),
    ],
  };
}

/** W3C PNG, third edition, section 11.3.6.1. */
function countFrames(file: Buffer, chunks: readonly Chunk[]): number {
  const control = chunks.find(({ type }) => type === "acTL");
  const hasCount = control !== undefined && control.end - control.start >= 16;
  return hasCount ? Math.max(1, file.readUInt32BE(control.start + 8)) : 1;
}

function readHeader(file: Buffer) {
  const width = file.readUInt32BE(16);
  const height = file.readUInt32BE(20);
  const totalPixels = width * height;
  const [depth, colourType, , , interlace] = file.subarray(24);
  const pixelBytes = (CHANNELS[colourType ?? -1] ?? 4) * (depth === 16 ? 2 : 1);
  // An interlaced PNG is complete only after its seventh pass, so it is held as a whole.
  return {
    width,
    height,
    totalPixels,
    decodeBytes: interlace === 0 ? 0 : totalPixels * pixelBytes,
  };
}

function readChunks(file: Buffer): Chunk[] {
  const chunks: Chunk[] = [];
  let at = SIGNATURE_BYTES;
  while (chunks.length < MAX_CHUNKS) {
    if (at + 12 > file.length) throw unreadable("The PNG ends before its last chunk.");
    const type = file.toString("latin1", at + 4, at + 8);
    const end = at + 12 + file.readUInt32BE(at);
    if (end > file.length) throw unreadable("A chunk of the PNG is truncated.");
    if (crc32(file.subarray(at + 4, end - 4)) !== file.readUInt32BE(end - 4))
      throw unreadable("The checksum of a PNG chunk is wrong.");

    chunks.push({ type, start: at, end });
    if (type === "IEND") return chunks;
    at = end;
  }
  throw unreadable(`The PNG has more than ${MAX_CHUNKS} chunks.`);
}

function isPersonal(file: Buffer, { type, start, end }: Chunk): boolean {
  if (type === "eXIf") return true;
  if (!TEXT.has(type)) return false;
  const keyword = file.toString("latin1", start + 8, Math.min(end - 4, start + 88));
  return !HARMLESS_KEYWORDS.has(keyword.split("\0", 1)[0] ?? "");
}

function exifChunk(orientation: number): Uint8Array {
  const exif = orientationExif(orientation);
  const chunk = Buffer.alloc(12 + exif.length);
  chunk.writeUInt32BE(exif.length, 0);
  chunk.write("eXIf", 4, "latin1");
  chunk.set(exif, 8);
  chunk.writeUInt32BE(crc32(chunk.subarray(4, 8 + exif.length)), 8 + exif.length);
  return chunk;
}
