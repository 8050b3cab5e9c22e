import { MediaRejected, unreadable } from "#src/domain/media-rejected.ts";
import type { Box, BoxReader } from "./mp4-box.ts";
import { chunkOffsets, type Mp4Track } from "./mp4-track.ts";
import type { BlankedRange } from "./video-layout.ts";

/** Enough for a day at a hundred samples per second; a video with more is rejected. */
const MAX_SAMPLES = 10_000_000;

interface SampleRange {
  readonly offset: number;
  readonly bytes: number;
}

/** The range of each chunk, so that its samples can be blanked. */
export function* readSampleRanges(reader: BoxReader, track: Mp4Track): Generator<SampleRange> {
  const chunks = track.tables.get("stco") ?? track.tables.get("co64");
  const perChunk = track.tables.get("stsc");
  const sizes = sizesOf(track);
  if (chunks === undefined || perChunk === undefined || sizes === undefined) return;
  const nextSize = readSizes(reader, sizes);
  const samplesIn = readSamplesPerChunk(reader, perChunk);
  let left = MAX_SAMPLES;
  let chunk = 0;
  for (const offset of chunkOffsets(reader, chunks)) {
    chunk += 1;
    let bytes = 0;
    for (let sample = samplesIn(chunk); sample > 0 && left > 0; sample -= 1) {
      left -= 1;
      bytes += nextSize();
    }
    if (left === 0) throw unreadable("A metadata track of the video has too many samples.");
    if (offset + bytes > reader.source.bytes)
      throw unreadable("The video is truncated: samples are missing.");
    yield { offset, bytes };
  }
}

function sizesOf({ tables }: Mp4Track): Box | undefined {
  return tables.get("stsz") ?? tables.get("stz2");
}

/** The returned function gives the size of the next sample, and 0 after the last one. */
function readSizes(reader: BoxReader, box: Box): () => number {
  return box.type === "stz2" ? readSmallSizes(reader, box) : readLongSizes(reader, box);
}

function readLongSizes(reader: BoxReader, box: Box): () => number {
  const head = reader.payload(box, 12);
  const uniform = head.readUInt32BE(4);
  const count = head.readUInt32BE(8);
  let index = 0;
  let part: Buffer = Buffer.alloc(0);
  let at = 0;
  return () => {
    if (index >= count) return 0;
    if (uniform === 0 && at >= part.length) {
      const bytes = Math.min(16_384, (count - index) * 4);
      part = reader.payload(box, bytes, 12 + index * 4);
      at = 0;
    }
    index += 1;
    at += 4;
    return uniform === 0 ? part.readUInt32BE(at - 4) : uniform;
  };
}

/** The sizes of an `stz2` box have 4, 8 or 16 bits. */
function readSmallSizes(reader: BoxReader, box: Box): () => number {
  const head = reader.payload(box, 12);
  const bits = head[7] ?? 0;
  const count = head.readUInt32BE(8);
  if (![4, 8, 16].includes(bits)) throw unreadable("The sample sizes of the video are invalid.");
  let index = 0;
  return () => {
    if (index >= count) return 0;
    const at = (index * bits) / 8;
    index += 1;
    if (bits === 16) return reader.payload(box, 2, 12 + at).readUInt16BE(0);
    const byte = reader.payload(box, 1, 12 + Math.floor(at))[0] ?? 0;
    if (bits === 8) return byte;
    return Number.isInteger(at) ? byte >> 4 : byte & 15;
  };
}

/**
 * The returned function gives the number of samples of a chunk (`stsc`); chunk numbers must ascend.
 */
function readSamplesPerChunk(reader: BoxReader, box: Box): (chunk: number) => number {
  const count = reader.payload(box, 8).readUInt32BE(4);
  const entry = (index: number) => reader.payload(box, 8, 8 + 12 * index);
  let index = 0;
  return (chunk) => {
    while (index + 1 < count && entry(index + 1).readUInt32BE(0) <= chunk) index += 1;
    return count === 0 ? 0 : entry(index).readUInt32BE(4);
  };
}

/** Entries that only name the program, or contain only padding. */
const HARMLESS = new Set(["\u00a9too", "\u00a9enc", "\u00a9swr", "free", "skip"]);
/** Spherical video (github.com/google/spatial-media, v1), which players need. */
const NEEDED_UUIDS = new Set(["ffcc826388554a938814587a02521fdd"]);

interface Parts {
  readonly reader: BoxReader;
  readonly top: readonly Box[];
  readonly inMovie: readonly Box[];
  readonly tracks: readonly Mp4Track[];
}

/**
 * Finds what is about a person, place or device: `udta` and `meta` boxes, `uuid` boxes such as XMP,
 * and timed-metadata tracks become `free` boxes of zeros. A box that only names the program stays,
 * so that a video without metadata is delivered unchanged.
 */
export function findMp4Metadata(parts: Parts): readonly BlankedRange[] {
  const { reader, top, inMovie, tracks } = parts;
  const boxes = [...top, ...inMovie, ...tracks.flatMap((track) => track.boxes)];
  const personal = boxes.filter((box) => isPersonal(reader, box));
  const metadataTracks = tracks.filter(({ isMetadata }) => isMetadata);
  // The whole metadata track is blanked.
  const alone = personal.filter(
    ({ start }) => !metadataTracks.some(({ box }) => box.start < start && start < box.end),
  );
  const blanks = [...alone, ...metadataTracks.map(({ box }) => box)].flatMap(blankBox);
  for (const track of metadataTracks)
    for (const { offset, bytes } of readSampleRanges(reader, track))
      blanks.push({ offset, bytes: new Uint8Array(), zeros: bytes });

  return withoutOverlaps(blanks.sort((a, b) => a.offset - b.offset));
}

/**
 * A hostile file may name the same samples many times: writing over each of its bytes as often
 * would take minutes.
 */
function withoutOverlaps(sorted: readonly BlankedRange[]): BlankedRange[] {
  const merged: BlankedRange[] = [];
  let end = 0;
  for (const blank of sorted) {
    const last = merged.at(-1);
    const blankEnd = blank.offset + blank.bytes.length + blank.zeros;
    if (last === undefined || blank.offset >= end) merged.push(blank);
    else if (blankEnd > end)
      merged[merged.length - 1] = { ...last, zeros: last.zeros + blankEnd - end };
    end = Math.max(end, blankEnd);
  }
  return merged;
}

function isPersonal(reader: BoxReader, box: Box): boolean {
  if (box.type === "uuid") return !NEEDED_UUIDS.has(reader.payload(box, 16).toString("hex"));

  if (box.type !== "udta" && box.type !== "meta") return false;
  try {
    return !isHarmless(reader, box, 0);
  } catch (error) {
    // What cannot be parsed may contain personal data, so it is blanked.
    if (error instanceof MediaRejected && !reader.isSpent) return true;
    throw error;
  }
}

function isHarmless(reader: BoxReader, box: Box, depth: number): boolean {
  return reader.boxes({ payload: listStart(reader, box), end: box.end }).every((entry) => {
    if (HARMLESS.has(entry.type) || entry.type === "hdlr") return true;
    const isList = entry.type === "meta" || entry.type === "ilst";
    return isList && depth < 3 && isHarmless(reader, entry, depth + 1);
  });
}

/**
 * In MP4 a `meta` box begins with four bytes of version and flags; in QuickTime its `hdlr` box
 * follows immediately.
 */
function listStart(reader: BoxReader, box: Box): number {
  if (box.type !== "meta" || box.end - box.payload < 8) return box.payload;
  const isPlain = reader.payload(box, 8).toString("latin1", 4, 8) === "hdlr";
  return isPlain ? box.payload : box.payload + 4;
}

function blankBox({ start, payload, end }: Box): BlankedRange[] {
  // A long box has a 64-bit length before its payload, which is kept, so that the file stays valid.
  return [
    { offset: start + 4, bytes: Buffer.from("free", "latin1"), zeros: 0 },
    { offset: payload, bytes: new Uint8Array(), zeros: end - payload },
  ];
}
