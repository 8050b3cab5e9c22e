import { expect, test } from "vitest";
import { BoxReader, writeBox } from "./mp4-box.ts";
import { findMp4Metadata } from "./mp4-metadata.ts";
import { readMp4Track } from "./mp4-track.ts";

const u32 = (...values: readonly number[]): Buffer =>
  Buffer.concat(
    values.map((value) => Buffer.from([value >>> 24, value >>> 16, value >>> 8, value])),
  );

/** A track of metadata with a chunk of one sample at each offset. */
function metadataTrack(offsets: readonly number[], sizes: Buffer): Buffer {
  const table = writeBox(
    "stbl",
    writeBox("stsc", u32(0, 1, 1, 1, 1)),
    sizes,
    writeBox("stco", u32(0, offsets.length, ...offsets)),
  );
  const handler = writeBox("hdlr", Buffer.from("\0\0\0\0\0\0\0\0meta"));
  const times = writeBox("mdhd", u32(0, 0, 0, 600, 600, 0));
  const media = writeBox("mdia", times, handler, writeBox("minf", table));
  return writeBox("trak", writeBox("tkhd", Buffer.alloc(84)), media);
}

/** The ranges to write over behind the track, each with its offset and length. */
function rangesOf(track: Buffer): readonly (readonly number[])[] {
  const file = Buffer.concat([track, Buffer.alloc(2000)]);
  const reader = new BoxReader(
    { bytes: file.length, read: (at, length) => file.subarray(at, at + length) },
    1000,
  );
  const box = { type: "trak", start: 0, payload: 8, end: track.length };
  const tracks = [readMp4Track(reader, box, false)];
  return findMp4Metadata({ reader, top: [], inMovie: [box], tracks })
    .filter(({ offset }) => offset >= track.length)
    .map(({ offset, zeros }) => [offset, zeros]);
}

test("samples of metadata that overlap are written over once", () => {
  const sizes = writeBox("stsz", u32(0, 20, 4));
  expect(rangesOf(metadataTrack([1010, 1000, 1015, 1050], sizes))).toEqual([
    [1000, 35],
    [1050, 20],
  ]);
});

test.each([
  [4, Buffer.from("31f0", "hex"), [3, 1, 15]],
  [8, Buffer.from("0311ff", "hex"), [3, 17, 255]],
  [16, Buffer.from("00030011012c", "hex"), [3, 17, 300]],
])("samples of metadata whose sizes have %i bits are written over", (bits, bytes, [a, b, c]) => {
  const sizes = writeBox("stz2", u32(0, bits, 3), bytes);
  expect(rangesOf(metadataTrack([1000, 1100, 1300], sizes))).toEqual([
    [1000, a],
    [1100, b],
    [1300, c],
  ]);
});
