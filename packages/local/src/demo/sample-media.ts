import { crc32, deflateSync } from "node:zlib";

export { sampleMp4, type SampleVideo } from "./sample-mp4.ts";

export interface SampleSize {
  readonly width: number;
  readonly height: number;
}

const SIZE: SampleSize = { width: 640, height: 480 };

/** Generates a small valid PNG with a gradient, so that the repository needs no binary file. */
export function samplePng({ width, height }: SampleSize = SIZE): Uint8Array<ArrayBuffer> {
  const rows = Buffer.alloc(height * (1 + 3 * width));
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1) {
      const at = y * (1 + 3 * width) + 1 + 3 * x;
      rows[at] = (255 * x) / width;
      rows[at + 1] = (255 * y) / height;
      rows[at + 2] = 128;
    }

  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2, 0, 0, 0], 8);
  return join([
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    pngChunk("IHDR", header),
    pngChunk("IDAT", deflateSync(rows)),
    pngChunk("IEND", Buffer.alloc(0)),
  ]);
}

export function pngChunk(type: string, data: Uint8Array): Buffer {
  const chunk = Buffer.alloc(12 + data.length);
  chunk.writeUInt32BE(data.length, 0);
  chunk.write(type, 4, "latin1");
  chunk.set(data, 8);
  chunk.writeUInt32BE(crc32(chunk.subarray(4, 8 + data.length)), 8 + data.length);
  return chunk;
}

/** Codes of each length from 1 to 16 for DC differences (ITU-T T.81, table K.3). */
const DC_LENGTHS = [0, 1, 5, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0];
const DC_CODES = ["00", "010", "011", "100", "101", "110", "1110", "11110", "111110"];
/** The only Huffman code for AC coefficients in the sample JPEG: end of block. */
const END_OF_BLOCK = "0";

/** Generates a small valid baseline JPEG of grey blocks of eight by eight pixels. */
export function sampleJpeg({ width, height }: SampleSize = SIZE): Uint8Array<ArrayBuffer> {
  const frame = Buffer.from([8, 0, 0, 0, 0, 1, 1, 0x11, 0]);
  frame.writeUInt16BE(height, 1);
  frame.writeUInt16BE(width, 3);
  return join([
    Buffer.from([0xff, 0xd8]),
    jpegSegment(0xe0, Buffer.from("JFIF\0\x01\x01\0\0\x01\0\x01\0\0", "latin1")),
    jpegSegment(0xdb, Buffer.from([0, ...Array.from({ length: 64 }, () => 8)])),
    jpegSegment(0xc0, frame),
    jpegSegment(0xc4, Buffer.from([0x00, ...DC_LENGTHS, ...Array(12).keys()])),
    jpegSegment(0xc4, Buffer.from([0x10, 1, ...Array.from({ length: 15 }, () => 0), 0])),
    jpegSegment(0xda, Buffer.from([1, 1, 0x00, 0, 63, 0])),
    greyBlocks(Math.ceil(width / 8), Math.ceil(height / 8)),
    Buffer.from([0xff, 0xd9]),
  ]);
}

export function jpegSegment(marker: number, data: Uint8Array): Buffer {
  const head = Buffer.from([0xff, marker, 0, 0]);
  head.writeUInt16BE(data.length + 2, 2);
  return Buffer.concat([head, data]);
}

/** Each block as the difference from the one before: number of bits, bits, end of block. */
function greyBlocks(columns: number, rows: number): Buffer {
  let bits = "";
  let last = 0;
  for (let index = 0; index < columns * rows; index += 1) {
    const level = Math.round((200 * (index % columns)) / columns) - 100;
    bits += differenceBits(level - last) + END_OF_BLOCK;
    last = level;
  }
  bits = bits.padEnd(Math.ceil(bits.length / 8) * 8, "1");
  const bytes = Array.from({ length: bits.length / 8 }, (_, index) =>
    Number.parseInt(bits.slice(8 * index, 8 * index + 8), 2),
  );
  return Buffer.from(bytes.flatMap((byte) => (byte === 0xff ? [0xff, 0] : [byte])));
}

function differenceBits(difference: number): string {
  if (difference === 0) return DC_CODES[0] ?? "";
  const size = 32 - Math.clz32(Math.abs(difference));
  const value = difference > 0 ? difference : difference + 2 ** size - 1;
  return (DC_CODES[size] ?? "") + value.toString(2).padStart(size, "0");
}

function join(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(Buffer.concat(parts));
}
