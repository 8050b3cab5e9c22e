import { expect, test } from "vitest";
import { MediaRejected } from "#src/domain/media-rejected.ts";
import { BoxReader, writeBox } from "./mp4-box.ts";
import { readAudioCodec } from "./mp4-codecs.ts";
import { writeIndex } from "./mp4-index.ts";
import type { ByteSource } from "./video-layout.ts";

/** The payload of an `stsd` box with one entry. */
function describe(entry: Buffer): Buffer {
  return Buffer.concat([Buffer.from([0, 0, 0, 0, 0, 0, 0, 1]), entry]);
}

test("a sound description that ends with the file before its version costs the file only the name of a codec", () => {
  const bytes = describe(writeBox("mp4a", Buffer.alloc(8)));
  const source: ByteSource = {
    bytes: bytes.length,
    read: (offset, length) => bytes.subarray(offset, offset + length),
  };
  const box = { type: "stsd", start: 0, payload: 0, end: bytes.length };
  expect(readAudioCodec(new BoxReader(source, 10), box)).toBe("aac");
});

test("a table of chunks without a number of chunks is refused as unreadable", () => {
  const table = writeBox(
    "stbl",
    writeBox("stsd", describe(writeBox("mp4v", Buffer.alloc(78)))),
    writeBox("stco", Buffer.alloc(4)),
  );
  const handler = writeBox("hdlr", Buffer.from("\0\0\0\0\0\0\0\0vide"));
  const media = writeBox(
    "mdia",
    writeBox("mdhd", Buffer.alloc(24)),
    handler,
    writeBox("minf", table),
  );
  const movie = Buffer.concat([
    writeBox("mvhd", Buffer.alloc(100)),
    writeBox("trak", writeBox("tkhd", Buffer.alloc(84)), media),
  ]);
  const options = { isQuickTime: false, isLarge: false, moved: (offset: number) => offset };
  expect(() => writeIndex(movie, options)).toThrow(MediaRejected);
});
