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

export function readBmpHeader(file: Buffer): BmpHeader {
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
