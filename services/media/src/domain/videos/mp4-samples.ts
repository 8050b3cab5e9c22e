import { unreadable } from "#src/domain/media-rejected.ts";
import type { ByteSource } from "./byte-source.ts";
import { payloadOf, type Box } from "./mp4-box.ts";
import { chunkOffsets, type Mp4Track } from "./mp4-track.ts";

/**
 * Maximum number of samples of a metadata track. A video with more is rejected. It suffices for a day at a hundred samples per
 * second.
 */
const MAX_SAMPLES = 10_000_000;

interface SampleRange {
  readonly offset: number;
  readonly bytes: number;
}

/** Yields the file range of each chunk of a track's samples, so that the samples can be blanked. */
export function* readSampleRanges(source: ByteSource, track: Mp4Track): Generator<SampleRange> {
  const chunks = track.tables.get("stco") ?? track.tables.get("co64");
  const perChunk = track.tables.get("stsc");
  const sizes = track.tables.get("stsz");
  if (chunks === undefined || perChunk === undefined || sizes === undefined) return;
  const nextSize = readSizes(source, sizes);
  const samplesIn = readSamplesPerChunk(source, perChunk);
  let left = MAX_SAMPLES;
  let chunk = 0;
  for (const offset of chunkOffsets(source, chunks)) {
    chunk += 1;
    let bytes = 0;
    for (let sample = samplesIn(chunk); sample > 0 && left > 0; sample -= 1) {
      left -= 1;
      bytes += nextSize();
    }
    if (left === 0) throw unreadable("A metadata track of the video has too many samples.");
    if (offset + bytes > source.bytes)
      throw unreadable("The video is truncated: samples are missing.");
    yield { offset, bytes };
  }
}

/**
 * Reads the `stsz` sample sizes of a track. Returns a function that gives the size of the next sample at each call, and
 * 0 after the last sample.
 */
function readSizes(source: ByteSource, box: Box): () => number {
  const head = payloadOf(source, box, 12);
  const uniform = head.readUInt32BE(4);
  const count = head.readUInt32BE(8);
  let index = 0;
  let part: Buffer = Buffer.alloc(0);
  let at = 0;
  return () => {
    if (index >= count) return 0;
    if (uniform === 0 && at >= part.length) {
      const bytes = Math.min(16_384, (count - index) * 4);
      part = payloadOf(source, box, bytes, 12 + index * 4);
      at = 0;
    }
    index += 1;
    at += 4;
    return uniform === 0 ? part.readUInt32BE(at - 4) : uniform;
  };
}

/**
 * Reads the `stsc` table of a track. Returns a function that gives the number of samples of a chunk. Call this function
 * with ascending chunk numbers.
 */
function readSamplesPerChunk(source: ByteSource, box: Box): (chunk: number) => number {
  const count = payloadOf(source, box, 8).readUInt32BE(4);
  const entry = (index: number) => payloadOf(source, box, 8, 8 + 12 * index);
  let index = 0;
  return (chunk) => {
    while (index + 1 < count && entry(index + 1).readUInt32BE(0) <= chunk) index += 1;
    return count === 0 ? 0 : entry(index).readUInt32BE(4);
  };
}
