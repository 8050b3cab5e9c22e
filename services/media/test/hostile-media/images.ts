import { constants, deflateRawSync, gzipSync } from "node:zlib";
import { jpegSegment, pngChunk, sampleJpeg, samplePng } from "@postrider/local/demo/sample-media";
import sharp from "sharp";
import { directory, tiff, tiffEntries } from "../sample-tiff.ts";
import { hostile, type HostileFile } from "./hostile-file.ts";

const SIGNATURE = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");

/** Creates image files with decompression bombs, endless loops, truncations and false sizes. */
export async function hostileImages(): Promise<HostileFile[]> {
  return [
    ...hostilePngs(),
    ...(await hostileJpegs()),
    ...(await hostileGifs()),
    ...(await hostileWebps()),
    ...(await hostileTiffs()),
    ...hostileBmps(),
  ];
}

function pngHeader(width: number, height: number, ...rest: readonly number[]): Buffer {
  const data = Buffer.alloc(13);
  data.writeUInt32BE(width, 0);
  data.writeUInt32BE(height, 4);
  data.set(rest, 8);
  return pngChunk("IHDR", data);
}

function png(...chunks: readonly Buffer[]): Buffer {
  return Buffer.concat([SIGNATURE, ...chunks, pngChunk("IEND", Buffer.alloc(0))]);
}

function repeated(times: number, part: Buffer): Buffer {
  return Buffer.alloc(times * part.length, part);
}

const ZERO_BLOCK_BYTES = 1_000_000;
const ZERO_BLOCK = deflateRawSync(Buffer.alloc(ZERO_BLOCK_BYTES), {
  finishFlush: constants.Z_FULL_FLUSH,
});

/**
 * A zlib stream of zeros (RFC 1950). It repeats one compressed block, because compressing 300 MB
 * takes seconds.
 */
function zeros(bytes: number): Buffer {
  const blocks = repeated(Math.floor(bytes / ZERO_BLOCK_BYTES), ZERO_BLOCK);
  const rest = deflateRawSync(Buffer.alloc(bytes % ZERO_BLOCK_BYTES));
  // The checksum Adler-32 of n zeros is n modulo 65521 in the upper half, and 1 in the lower half.
  const checksum = Buffer.alloc(4);
  checksum.writeUInt16BE(bytes % 65_521, 0);
  checksum.writeUInt16BE(1, 2);
  return Buffer.concat([Buffer.from([0x78, 0x01]), blocks, rest, checksum]);
}

function hostilePngs(): HostileFile[] {
  const good = Buffer.from(samplePng({ width: 64, height: 64 }));
  const header = pngHeader(64, 64, 8, 2, 0, 0, 0);
  const pixels = pngChunk("IDAT", zeros(64 * 193));
  const bigText = pngChunk("zTXt", Buffer.concat([Buffer.from("Comment\0\0"), zeros(200_000_000)]));
  const profile = pngChunk("iCCP", Buffer.concat([Buffer.from("p\0\0"), zeros(200_000_000)]));
  const wrongCrc = Buffer.from(good);
  wrongCrc[good.length - 20] = (good[good.length - 20] ?? 0) ^ 1;
  const idat = pngChunk("IDAT", zeros(50_000_000));
  return [
    ...hostile("image/png", "rejected", {
      "a PNG of 50,000 x 50,000 zeros": png(
        pngHeader(50_000, 50_000, 1, 0, 0, 0, 0),
        pngChunk("IDAT", zeros(50_000 * 6251)),
      ),
      "a PNG that claims 100,000 x 100,000": png(
        pngHeader(100_000, 100_000, 8, 2, 0, 0, 0),
        pixels,
      ),
      "a PNG that claims 2^31 x 2^31": png(
        pngHeader(0x7fffffff, 0x7fffffff, 16, 6, 0, 0, 0),
        pixels,
      ),
      "a PNG without pixels": png(pngHeader(0, 0, 8, 2, 0, 0, 0), pixels),
      "a PNG with less data than pixels": png(pngHeader(1000, 1000, 8, 2, 0, 0, 0), pixels),
      "a PNG with a wrong checksum": wrongCrc,
      "a PNG without image data": png(header),
      "a PNG with two headers": png(header, header, pixels),
      "a PNG cut in its header": good.subarray(0, 20),
      "a PNG cut in its image": good.subarray(0, good.length - 40),
      "a PNG without its end": good.subarray(0, good.length - 12),
      "a PNG with a chunk of 4 GB": Buffer.concat([
        SIGNATURE,
        header,
        Buffer.from("fffffff849444154", "hex"),
      ]),
      "a PNG of 200,000 empty chunks": png(
        header,
        repeated(200_000, pngChunk("tEXt", Buffer.alloc(0))),
        pixels,
      ),
      "an interlaced PNG of 10,000 x 10,000": png(pngHeader(10_000, 10_000, 8, 6, 0, 0, 1), idat),
      "a PNG of an unknown colour type": png(pngHeader(64, 64, 8, 5, 0, 0, 0), pixels),
    }),
    ...hostile("image/png", "either", {
      "a PNG with 200 MB of compressed text": png(header, bigText, pixels),
      "a PNG with a colour profile of 200 MB": png(header, profile, pixels),
      "a PNG with data after its pixels": png(header, pngChunk("IDAT", zeros(300_000_000))),
      "a PNG of 10,000 x 10,000 zeros": png(
        pngHeader(10_000, 10_000, 8, 2, 0, 0, 0),
        pngChunk("IDAT", zeros(10_000 * 30_001)),
      ),
      "a PNG of 16 bits and 5,000 x 5,000 zeros": png(
        pngHeader(5000, 5000, 16, 6, 0, 0, 0),
        pngChunk("IDAT", zeros(5000 * 40_001)),
      ),
    }),
  ];
}

function jpegWith(size: number, marker = 0xc0): Buffer {
  const bytes = Buffer.from(sampleJpeg({ width: 64, height: 64 }));
  const at = bytes.indexOf(Buffer.from([0xff, 0xc0]));
  bytes[at + 1] = marker;
  bytes.writeUInt16BE(size, at + 5);
  bytes.writeUInt16BE(size, at + 7);
  return bytes;
}

async function hostileJpegs(): Promise<HostileFile[]> {
  const good = Buffer.from(sampleJpeg({ width: 64, height: 64 }));
  const scan = good.indexOf(Buffer.from([0xff, 0xda]));
  const cut = Object.fromEntries(
    [3, 4, 18, 25, 80, 100, 130, scan, scan + 4, scan + 12, good.length - 2, good.length - 1].map(
      (at) => [`a JPEG truncated at byte ${at}`, good.subarray(0, at)],
    ),
  );
  const progressive = await sharp({
    create: { width: 512, height: 512, channels: 3, background: "red" },
  })
    .jpeg({ progressive: true })
    .toBuffer();
  const last = progressive.lastIndexOf(Buffer.from([0xff, 0xda]));
  const lastScan = progressive.subarray(last, -2);
  const scans = Buffer.concat([
    progressive.subarray(0, last),
    ...Array.from({ length: 5000 }, () => lastScan),
    Buffer.from([0xff, 0xd9]),
  ]);
  const bigProgressive = Buffer.from(progressive);
  const frame = bigProgressive.indexOf(Buffer.from([0xff, 0xc2]));
  bigProgressive.writeUInt16BE(10_000, frame + 5);
  bigProgressive.writeUInt16BE(10_000, frame + 7);
  const loop = Buffer.concat([
    Buffer.from([0xff, 0xd8]),
    jpegSegment(
      0xe1,
      Buffer.from(
        "Exif\0\0MM\0*\0\0\0\x08\0\x01\x87\x69\0\x04\0\0\0\x01\0\0\0\x08\0\0\0\x08",
        "latin1",
      ),
    ),
    good.subarray(2),
  ]);
  return [
    ...hostile("image/jpeg", "rejected", {
      ...cut,
      "a JPEG that claims 65,500 x 65,500": jpegWith(65_500),
      "a JPEG without pixels": jpegWith(0),
      "a JPEG of 5,000 scans": scans,
      "a progressive JPEG that claims 10,000 x 10,000": bigProgressive,
      "a JPEG with a segment of no length": Buffer.concat([
        good.subarray(0, 2),
        Buffer.from([0xff, 0xe1, 0, 0]),
        good.subarray(2),
      ]),
      "a JPEG of 50,000 empty segments": Buffer.concat([
        good.subarray(0, 2),
        repeated(50_000, jpegSegment(0xfe, Buffer.alloc(0))),
        good.subarray(2),
      ]),
      "a JPEG of filling only": Buffer.concat([
        good.subarray(0, 2),
        Buffer.alloc(10_000_000, 0xff),
      ]),
    }),
    ...hostile("image/jpeg", "either", {
      "a JPEG that claims it is arithmetic-coded": jpegWith(64, 0xc9),
      "a JPEG with much less data than 9,000 x 9,000": jpegWith(9000),
    }),
    ...hostile("image/jpeg", "accepted", { "a JPEG whose EXIF loops": loop }),
  ];
}

/** Returns one frame of a GIF with `size` x `size` pixels that contains a single code. */
function gifFrame(size: number): Buffer {
  const head = Buffer.from([0x2c, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
  head.writeUInt16LE(size, 5);
  head.writeUInt16LE(size, 7);
  return Buffer.concat([head, Buffer.from([2, 2, 0x44, 0x01, 0])]);
}

function gif(size: number, ...blocks: readonly Buffer[]): Buffer {
  const head = Buffer.from("GIF89a\0\0\0\0\x80\0\0\0\0\0\xff\xff\xff", "latin1");
  head.writeUInt16LE(size, 6);
  head.writeUInt16LE(size, 8);
  return Buffer.concat([head, ...blocks, Buffer.from([0x3b])]);
}

async function hostileGifs(): Promise<HostileFile[]> {
  const good = await sharp(samplePng({ width: 64, height: 64 }))
    .gif()
    .toBuffer();
  const cut = [7, 12, 20, good.length - 300, good.length - 1];
  const frames = repeated(50_000, gifFrame(1));
  return [
    ...hostile("image/gif", "rejected", {
      ...Object.fromEntries(
        cut.map((at) => [`a GIF truncated at byte ${at}`, good.subarray(0, at)]),
      ),
      "a GIF that claims 65,535 x 65,535": gif(65_535, gifFrame(1)),
      "a GIF of 50,000 frames on 5,000 x 5,000": gif(5000, frames),
      "a GIF without a image": gif(10),
      "a GIF of 200,000 comments": gif(
        10,
        repeated(200_000, Buffer.from([0x21, 0xfe, 1, 65, 0])),
        gifFrame(1),
      ),
    }),
    ...hostile("image/gif", "either", {
      "a GIF of 50,000 frames of one pixel": gif(1, frames),
      "a GIF of 300 frames on 1,000 x 1,000": gif(1000, repeated(300, gifFrame(1))),
      "a GIF whose image is larger than its canvas": gif(10, gifFrame(60_000)),
      "a GIF with too few codes": gif(3000, gifFrame(3000)),
    }),
  ];
}

async function hostileWebps(): Promise<HostileFile[]> {
  const solid = (width: number, height: number) =>
    sharp({ create: { width, height, channels: 3, background: "red" } });
  const good = await sharp(samplePng({ width: 64, height: 64 }))
    .webp()
    .toBuffer();
  const lossless = await solid(8000, 4500).webp({ lossless: true, effort: 0 }).toBuffer();
  const lossy = await solid(9000, 9000).webp({ effort: 0 }).toBuffer();
  const frames = await sharp(await solid(500, 100_000).raw().toBuffer(), {
    raw: { width: 500, height: 100_000, channels: 3, pageHeight: 500 },
  })
    .webp({ effort: 0, loop: 0 })
    .toBuffer();
  const header = Buffer.from(
    "RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\xff\xff\xff\xff\xff\xff",
    "latin1",
  );
  header.writeUInt32LE(header.length - 8, 4);
  const longer = Buffer.from(good);
  longer.writeUInt32LE(0xffff_fff0, 4);
  return [
    ...hostile("image/webp", "rejected", {
      "a WebP that claims 16,777,216 x 16,777,216": header,
      "a lossless WebP of 8,000 x 4,500": lossless,
      "a WebP that claims 4 GB": longer,
      ...Object.fromEntries(
        [13, 19, 25, 60, good.length - 1].map((at) => [
          `a WebP truncated at byte ${at}`,
          good.subarray(0, at),
        ]),
      ),
    }),
    ...hostile("image/webp", "either", {
      "a WebP of 9,000 x 9,000": lossy,
      "a WebP of 200 frames on 500 x 500": frames,
    }),
  ];
}

async function hostileTiffs(): Promise<HostileFile[]> {
  const good = await sharp(samplePng({ width: 64, height: 64 }))
    .tiff({ compression: "lzw" })
    .toBuffer();
  const entries = tiffEntries(8);
  const one = directory(0, entries).length;
  const pixels = Buffer.alloc(64);
  const chain = Array.from({ length: 5000 }, (_, index) =>
    directory(index === 4999 ? 0 : 8 + one * (index + 1), entries),
  );
  const tiles = [
    ...tiffEntries(1000).filter(({ tag }) => tag < 270 || tag === 277),
    { tag: 322, value: 100_000 },
    { tag: 323, value: 100_000 },
    { tag: 324, value: 8 },
    { tag: 325, value: 64 },
  ];
  const gps = [...entries, { tag: 34665, value: 8 }];
  return [
    ...hostile("image/tiff", "rejected", {
      "a TIFF whose pages loop": tiff(directory(8, entries), pixels),
      "a TIFF whose second page is its first": tiff(
        directory(8 + one, entries),
        directory(8, entries),
        pixels,
      ),
      "a TIFF of 5,000 pages": tiff(...chain, pixels),
      "a TIFF that claims 100,000 x 100,000": tiff(directory(0, tiffEntries(100_000)), pixels),
      "a TIFF with tiles of 100,000 x 100,000": tiff(directory(0, tiles), pixels),
      "a TIFF with one strip of 10,000 x 10,000": tiff(
        directory(0, tiffEntries(10_000, 8)),
        zeros(100_000_000),
      ),
      "a TIFF whose directory lies beyond its end": Buffer.from("II*\0\xff\xff\xff\x7f", "latin1"),
      "a TIFF of 65,535 entries": tiff(
        Buffer.concat([Buffer.from([0xff, 0xff]), Buffer.alloc(12 * 65_535)]),
      ),
      "a TIFF with a value of 4 GB": tiff(
        directory(0, [...entries, { tag: 700, value: 8, count: 0x3fff_ffff }]),
        pixels,
      ),
      ...Object.fromEntries(
        [9, 40, Math.floor(good.length / 2), good.length - 20].map((at) => [
          `a TIFF truncated at byte ${at}`,
          good.subarray(0, at),
        ]),
      ),
    }),
    ...hostile("image/tiff", "either", {
      "a TIFF whose EXIF is its first page": tiff(directory(0, gps), pixels),
    }),
  ];
}

function bmp(
  width: number,
  height: number,
  depth: number,
  compression: number,
  pixels: Buffer,
): Buffer {
  const head = Buffer.alloc(54);
  head.write("BM", 0, "latin1");
  head.writeUInt32LE(54 + pixels.length, 2);
  head.writeUInt32LE(depth <= 8 ? 54 + 4 * 2 ** depth : 54, 10);
  head.writeUInt32LE(40, 14);
  head.writeInt32LE(width, 18);
  head.writeInt32LE(height, 22);
  head.writeUInt16LE(1, 26);
  head.writeUInt16LE(depth, 28);
  head.writeUInt32LE(compression, 30);
  return Buffer.concat([head, Buffer.alloc(depth <= 8 ? 4 * 2 ** depth : 0), pixels]);
}

function hostileBmps(): HostileFile[] {
  const moves = Buffer.alloc(15_000_000, Buffer.from([0, 2, 0, 0]));
  return hostile("image/bmp", "rejected", {
    "a BMP that claims 100,000 x 100,000": bmp(100_000, 100_000, 24, 0, Buffer.alloc(100)),
    "a BMP of a negative width": bmp(-10, 10, 24, 0, Buffer.alloc(400)),
    "a BMP cut in its pixels": bmp(10, 10, 24, 0, Buffer.alloc(319)),
    "a BMP whose runs leave its frame": bmp(10, 10, 8, 1, Buffer.from([255, 1, 0, 1])),
    "a BMP whose runs never end": bmp(10, 10, 8, 1, moves),
    "a BMP that holds a PNG": bmp(10, 10, 24, 5, Buffer.from(samplePng())),
    "a BMP that holds compressed data": bmp(10, 10, 24, 0, gzipSync(Buffer.alloc(100))),
    "a BMP cut in its header": bmp(10, 10, 24, 0, Buffer.alloc(0)).subarray(0, 30),
  });
}
