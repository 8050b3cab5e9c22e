import { expect, test } from "vitest";
import { BoxReader, writeBox } from "./mp4-box.ts";
import { findMp4Metadata } from "./mp4-metadata.ts";
import { readMp4Track } from "./mp4-track.ts";

const u32 = (...values: readonly number[]): Buffer =>
  Buffer.concat(
    values.map((value) => Buffer.from([value >>> 24, value >>> 16, value >>> 8, value])),
  );

/** A track of metadata with a chunk of `bytes` bytes at each offset. */
function metadataTrack(offsets: readonly number[], bytes: number): Buffer {
  const table = writeBox(
    "stbl",
    writeBox("stsc", u32(0, 1, 1, 1, 1)),
    writeBox("stsz", u32(0, bytes, offsets.length)),
    writeBox("stco", u32(0, offsets.length, ...offsets)),
  );
  const handler = writeBox("hdlr", Buffer.from("\0\0\0\0\0\0\0\0meta"));
  const times = writeBox("mdhd", u32(0, 0, 0, 600, 600, 0));
  const media = writeBox("mdia", times, handler, writeBox("minf", table));
  return writeBox("trak", writeBox("tkhd", Buffer.alloc(84)), media);
}

test("samples of metadata that overlap are written over once", () => {
  const track = metadataTrack([1010, 1000, 1015, 1050], 20);
  const file = Buffer.concat([track, Buffer.alloc(2000)]);
  const reader = new BoxReader(
    { bytes: file.length, read: (at, length) => file.subarray(at, at + length) },
    1000,
  );
  const box = { type: "trak", start: 0, payload: 8, end: track.length };
  const tracks = [readMp4Track(reader, box, false)];
  const blanks = findMp4Metadata({ reader, top: [], inMovie: [box], tracks });
  expect(blanks.map(({ offset, zeros }) => [offset, zeros])).toEqual([
    [4, 0],
    [8, track.length - 8],
    [1000, 35],
    [1050, 20],
  ]);
});
