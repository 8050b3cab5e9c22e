import { readBmpHeader, type BmpHeader } from "./bmp.ts";

export interface RgbPixels {
  readonly width: number;
  readonly height: number;
  readonly data: Buffer;
}

const CORE_BYTES = 12;
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
