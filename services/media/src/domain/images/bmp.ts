import { unreadable } from "#src/domain/media-rejected.ts";
import { hasTrailingBytes, type ImageLayout } from "./image-layout.ts";

const CORE_BYTES = 12;
const INFO_BYTES = new Set([12, 40, 52, 56, 64, 108, 124]);
const RGB = 0;
const RLE8 = 1;
const RLE4 = 2;
const BITFIELDS = 3;
const ALPHA_BITFIELDS = 6;
const DEPTHS: Readonly<Record<number, readonly number[]>> = {
  [RGB]: [1, 4, 8, 16, 24, 32],
  [RLE8]: [8],
  [RLE4]: [4],
  [BITFIELDS]: [16, 32],
  [ALPHA_BITFIELDS]: [16, 32],
};

/** `height` is positive also when rows are stored from top to bottom. */
export interface BmpHeader {
  readonly infoBytes: number;
  readonly width: number;
  readonly height: number;
  readonly depth: number;
  readonly compression: number;
  readonly pixelsAt: number;
}

interface Cursor {
  readonly x: number;
  readonly y: number;
  readonly at: number;
}

/**
 * Reads a BMP to its last pixel, because sharp cannot decode BMP. The only metadata are bytes after
 * the pixels.
 */
export function readBmp(file: Buffer): ImageLayout {
  const header = readBmpHeader(file);
  const { width, height, compression } = header;
  if (width < 1 || height < 1) throw unreadable("The BMP has no pixels.");
  const end =
    compression === RLE8 || compression === RLE4 ? rleEnd(file, header) : plainEnd(header);
  if (end > file.length) throw unreadable("The pixels of the BMP are truncated.");
  const last = Math.max(end, profileEnd(file, header));
  if (last > file.length) throw unreadable("The colour profile of the BMP is truncated.");
  return {
    width,
    height,
    frames: 1,
    totalPixels: width * height,
    decodeBytes: 0,
    lossless: true,
    hasMetadata: hasTrailingBytes(file, last),
    withoutMetadata: () => [{ start: 0, end: last }],
  };
}

function readBmpHeader(file: Buffer): BmpHeader {
  const infoBytes = file.length < 26 ? 0 : file.readUInt32LE(14);
  if (!INFO_BYTES.has(infoBytes) || file.length < 14 + infoBytes)
    throw unreadable("The header of the BMP is invalid.");

  const header = infoBytes === CORE_BYTES ? readCore(file) : readInfo(file, infoBytes);
  const planes = file.readUInt16LE(infoBytes === CORE_BYTES ? 22 : 26);
  if (planes !== 1 || !isKnown(header) || header.pixelsAt < tablesEnd(file, header))
    throw unreadable("The header of the BMP is invalid.");

  return header;
}

function isKnown({ compression, depth }: BmpHeader): boolean {
  return DEPTHS[compression]?.includes(depth) ?? false;
}

function readCore(file: Buffer): BmpHeader {
  return {
    infoBytes: CORE_BYTES,
    width: file.readUInt16LE(18),
    height: file.readUInt16LE(20),
    depth: file.readUInt16LE(24),
    compression: RGB,
    pixelsAt: file.readUInt32LE(10),
  };
}

function readInfo(file: Buffer, infoBytes: number): BmpHeader {
  return {
    infoBytes,
    width: file.readInt32LE(18),
    // Negative when the rows are stored from top to bottom.
    height: Math.abs(file.readInt32LE(22)),
    depth: file.readUInt16LE(28),
    compression: file.readUInt32LE(30),
    pixelsAt: file.readUInt32LE(10),
  };
}

function tablesEnd(file: Buffer, { infoBytes, depth, compression }: BmpHeader): number {
  if (infoBytes === CORE_BYTES) return 26 + (depth <= 8 ? 3 * 2 ** depth : 0);
  const masks =
    infoBytes === 40 ? ({ [BITFIELDS]: 12, [ALPHA_BITFIELDS]: 16 }[compression] ?? 0) : 0;
  const used = file.readUInt32LE(46);
  const colours = depth <= 8 && (used === 0 || used > 2 ** depth) ? 2 ** depth : used;
  return 14 + infoBytes + masks + (depth <= 8 ? 4 * colours : 0);
}

function plainEnd({ width, height, depth, pixelsAt }: BmpHeader): number {
  return pixelsAt + 4 * Math.ceil((width * depth) / 32) * height;
}

/** Returns the offset behind the end-of-bitmap code. Every run must stay inside the image. */
function rleEnd(file: Buffer, { width, height, depth, pixelsAt }: BmpHeader): number {
  let cursor = { x: 0, y: 0, at: pixelsAt };
  while (cursor.at + 1 < file.length) {
    const [count = 0, code = 0] = file.subarray(cursor.at, cursor.at + 2);
    if (count === 0 && code === 1) return cursor.at + 2;
    cursor = count === 0 ? escape(file, cursor, code, depth) : run(cursor, count);
    if (cursor.x > width || cursor.y > height)
      throw unreadable("A run of the BMP leaves the image.");
  }
  throw unreadable("The pixels of the BMP are truncated.");
}

function run({ x, y, at }: Cursor, count: number): Cursor {
  return { x: x + count, y, at: at + 2 };
}

/** End of line (0), a move of the position (2), or `code` literal pixels padded to 16 bits. */
function escape(file: Buffer, { x, y, at }: Cursor, code: number, depth: number): Cursor {
  if (code === 0) return { x: 0, y: y + 1, at: at + 2 };
  if (code === 2) return { x: x + (file[at + 2] ?? 0), y: y + (file[at + 3] ?? 0), at: at + 4 };
  return { x: x + code, y, at: at + 2 + 2 * Math.ceil((code * depth) / 16) };
}

/** A version 5 header may place the ICC profile after the pixels. */
function profileEnd(file: Buffer, { infoBytes }: BmpHeader): number {
  if (infoBytes !== 124 || file.toString("latin1", 70, 74) !== "DEBM") return 0;
  return 14 + file.readUInt32LE(126) + file.readUInt32LE(130);
}

interface RgbPixels {
  readonly width: number;
  readonly height: number;
  readonly data: Buffer;
}

const UNCOMPRESSED = 0;
const PALETTE_DEPTHS = new Set([1, 4, 8]);
const DIRECT_DEPTHS = new Set([24, 32]);

/**
 * Returns undefined for encodings that are not converted. `readBmp` must have accepted the file.
 */
export function readBmpPixels(file: Buffer): RgbPixels | undefined {
  const header = readBmpHeader(file);
  const { width, height, depth, compression } = header;
  const isKnown = DIRECT_DEPTHS.has(depth) || PALETTE_DEPTHS.has(depth);
  if (compression !== UNCOMPRESSED || !isKnown) return undefined;
  const data = Buffer.alloc(3 * width * height);
  const isTopDown = header.infoBytes !== CORE_BYTES && file.readInt32LE(22) < 0;
  const rowBytes = 4 * Math.ceil((width * depth) / 32);
  for (let y = 0; y < height; y += 1) {
    const rowAt = header.pixelsAt + (isTopDown ? y : height - 1 - y) * rowBytes;
    for (let x = 0; x < width; x += 1)
      copyColour(file, colourAt(file, header, { rowAt, x }), data, 3 * (y * width + x));
  }
  return { width, height, data };
}

function copyColour(file: Buffer, at: number, data: Buffer, to: number): void {
  data[to] = file[at + 2] ?? 0;
  data[to + 1] = file[at + 1] ?? 0;
  data[to + 2] = file[at] ?? 0;
}

/** A colour lies in the row, or in the colour table, which follows the header. */
function colourAt(
  file: Buffer,
  { depth, infoBytes }: BmpHeader,
  { rowAt, x }: { readonly rowAt: number; readonly x: number },
): number {
  if (DIRECT_DEPTHS.has(depth)) return rowAt + (x * depth) / 8;
  return 14 + infoBytes + (infoBytes === CORE_BYTES ? 3 : 4) * indexAt(file, { rowAt, x, depth });
}

function indexAt(
  file: Buffer,
  { rowAt, x, depth }: { readonly rowAt: number; readonly x: number; readonly depth: number },
): number {
  const perByte = 8 / depth;
  const byte = file[rowAt + Math.floor(x / perByte)] ?? 0;
  const shift = 8 - depth * (1 + (x % perByte));
  return (byte >> shift) & (2 ** depth - 1);
}
