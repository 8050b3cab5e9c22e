import type { ByteSource } from "./byte-source.ts";
import { payloadOf, readBoxes, type Box, type BoxBudget } from "./mp4-box.ts";
import type { Mp4Track } from "./mp4-track.ts";

/** The MP4 boxes and the video track from which the duration is read. */
export interface Mp4Parts {
  readonly source: ByteSource;
  readonly top: readonly Box[];
  readonly inMovie: readonly Box[];
  readonly video: Mp4Track;
  readonly budget: BoxBudget;
}

/**
 * Returns the end of the last fragment of an MP4 in ticks of the track's timescale, for videos whose header does not
 * state the duration.
 */
export function readFragmentsEnd({ source, top, inMovie, video, budget }: Mp4Parts): number {
  const extension = inMovie.find(({ type }) => type === "mvex");
  if (extension === undefined) return 0;
  const defaults = readBoxes(source, extension, budget)
    .filter(({ type }) => type === "trex")
    .map((box) => payloadOf(source, box, 24))
    .find((payload) => payload.readUInt32BE(4) === video.id);
  let end = 0;
  for (const fragment of top.filter(({ type }) => type === "moof")) {
    for (const box of readBoxes(source, fragment, budget).filter(({ type }) => type === "traf")) {
      end = Math.max(
        end,
        trackFragmentEnd(source, box, budget, video.id, defaults?.readUInt32BE(12) ?? 0),
      );
    }
  }
  return end;
}

/** Returns the time that the first sample of the first fragment takes, in ticks; 0 when it is not known. */
export function readSampleDuration({ source, top, inMovie, video, budget }: Mp4Parts): number {
  const extension = inMovie.find(({ type }) => type === "mvex");
  const first = top.find(({ type }) => type === "moof");
  if (extension === undefined || first === undefined) return 0;
  const isOwn = (payload: Buffer) => payload.readUInt32BE(4) === video.id;
  const header = readBoxes(source, first, budget)
    .filter(({ type }) => type === "traf")
    .map((box) => readBoxes(source, box, budget))
    .flatMap((boxes) => readFragmentHeader(source, boxes))
    .find(({ payload }) => isOwn(payload));
  if (header === undefined) return 0;
  const trackDefault = readBoxes(source, extension, budget)
    .filter(({ type }) => type === "trex")
    .map((trex) => payloadOf(source, trex, 24))
    .find(isOwn);
  return header.sampleDuration ?? trackDefault?.readUInt32BE(12) ?? 0;
}

/** Reads the header of a track's fragment, and the time that its first sample takes, if the fragment states it. */
function readFragmentHeader(source: ByteSource, boxes: readonly Box[]) {
  const header = boxes.find(({ type }) => type === "tfhd");
  if (header === undefined) return [];
  const run = boxes.find(({ type }) => type === "trun");
  const stated = run === undefined ? undefined : firstDuration(source, run);
  const sampleDuration = stated ?? fragmentDefault(source, header);
  return [{ payload: payloadOf(source, header, 8), sampleDuration }];
}

function firstDuration(source: ByteSource, run: Box): number | undefined {
  const head = payloadOf(source, run, 8);
  const flags = head.readUInt32BE(0);
  if ((flags & 0x100) === 0 || head.readUInt32BE(4) === 0) return undefined;
  const skip = 8 + (flags & 1 ? 4 : 0) + (flags & 4 ? 4 : 0);
  return payloadOf(source, run, 4, skip).readUInt32BE(0);
}

function trackFragmentEnd(
  source: ByteSource,
  fragment: Box,
  budget: BoxBudget,
  trackId: number,
  trackDefault: number,
): number {
  const boxes = readBoxes(source, fragment, budget);
  const header = boxes.find(({ type }) => type === "tfhd");
  const time = boxes.find(({ type }) => type === "tfdt");
  if (header === undefined || payloadOf(source, header, 8).readUInt32BE(4) !== trackId) return 0;
  const sampleDuration = fragmentDefault(source, header) ?? trackDefault;
  let end = time === undefined ? 0 : readDecodeTime(source, time);
  for (const run of boxes.filter(({ type }) => type === "trun")) {
    end += runDuration(source, run, sampleDuration);
  }
  return end;
}

function readDecodeTime(source: ByteSource, box: Box): number {
  const isLong = payloadOf(source, box, 1)[0] === 1;
  const payload = payloadOf(source, box, isLong ? 12 : 8);
  return isLong ? Number(payload.readBigUInt64BE(4)) : payload.readUInt32BE(4);
}

function fragmentDefault(source: ByteSource, header: Box): number | undefined {
  const flags = payloadOf(source, header, 4).readUInt32BE(0);
  if ((flags & 8) === 0) return undefined;
  const skip = 8 + (flags & 1 ? 8 : 0) + (flags & 2 ? 4 : 0);
  return payloadOf(source, header, 4, skip).readUInt32BE(0);
}

function runDuration(source: ByteSource, run: Box, sampleDuration: number): number {
  const head = payloadOf(source, run, 8);
  const flags = head.readUInt32BE(0);
  const count = head.readUInt32BE(4);
  if ((flags & 0x100) === 0) return count * sampleDuration;
  const each = 4 * [0x100, 0x200, 0x400, 0x800].filter((bit) => (flags & bit) !== 0).length;
  const skip = 8 + (flags & 1 ? 4 : 0) + (flags & 4 ? 4 : 0);
  const table = payloadOf(source, run, count * each, skip);
  let total = 0;
  for (let at = 0; at < table.length; at += each) total += table.readUInt32BE(at);
  return total;
}
