import { unreadable, unsupportedType } from "#src/domain/media-rejected.ts";
import type { ByteSource } from "./byte-source.ts";
import { type Box, type BoxBudget, payloadOf, readBoxes } from "./mp4-box.ts";
import { readAudioCodec, readVideoCodec } from "./mp4-codecs.ts";
import { findMp4Metadata } from "./mp4-metadata.ts";
import { readTimes } from "./mp4-times.ts";
import { type Mp4Track, readMp4Track } from "./mp4-track.ts";
import { toFps, type VideoFacts } from "./video-facts.ts";
import { MAX_DURATION_MS, type VideoLayout } from "./video-layout.ts";

interface Mp4Parts {
  readonly source: ByteSource;
  readonly top: readonly Box[];
  readonly inMovie: readonly Box[];
  readonly video: Mp4Track;
  readonly budget: BoxBudget;
}

/** The end of the last fragment in ticks, for videos whose header does not state the duration. */
function readFragmentsEnd({ source, top, inMovie, video, budget }: Mp4Parts): number {
  const extension = inMovie.find(({ type }) => type === "mvex");
  if (extension === undefined) return 0;
  const defaults = readBoxes(source, extension, budget)
    .filter(({ type }) => type === "trex")
    .map((box) => payloadOf(source, box, 24))
    .find((payload) => payload.readUInt32BE(4) === video.id);
  let end = 0;
  for (const fragment of top.filter(({ type }) => type === "moof"))
    for (const box of readBoxes(source, fragment, budget).filter(({ type }) => type === "traf"))
      end = Math.max(
        end,
        trackFragmentEnd(source, box, budget, video.id, defaults?.readUInt32BE(12) ?? 0),
      );

  return end;
}

function readSampleDuration({ source, top, inMovie, video, budget }: Mp4Parts): number {
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

/** `sampleDuration`: of the first sample, if the fragment states it. */
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
  for (const run of boxes.filter(({ type }) => type === "trun"))
    end += runDuration(source, run, sampleDuration);

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

const MAX_BOXES = 100_000;
const MAX_FACT_BOXES = 1_000;
const UNKNOWN = { codec: "unknown", profile: null, pixelFormat: null } as const;

/** Parses a video without its samples (ISO/IEC 14496-12; QuickTime File Format). */
export function readMp4(source: ByteSource): VideoLayout {
  const budget: BoxBudget = { left: MAX_BOXES };
  const top = readBoxes(source, { payload: 0, end: source.bytes }, budget);
  const movies = top.filter(({ type }) => type === "moov");
  const [movie] = movies;
  if (movie === undefined) throw unreadable("The video has no moov box.");
  if (movies.length > 1) throw unreadable("The video has more than one moov box.");
  const inMovie = readBoxes(source, movie, budget);
  const isFragmented = inMovie.some(({ type }) => type === "mvex");
  const tracks = inMovie
    .filter(({ type }) => type === "trak")
    .map((box) => readMp4Track(source, box, budget, isFragmented));
  const video = tracks.find(({ isVideo }) => isVideo);
  if (video === undefined)
    throw tracks.some(({ isAudio }) => isAudio)
      ? unsupportedType("audio/mp4")
      : unreadable("The video has no video track.");
  if (!top.some(({ type }) => type === "mdat")) throw unreadable("The video has no media data.");
  return {
    width: video.width,
    height: video.height,
    durationMs: readDuration({ source, top, inMovie, video, budget }),
    facts: readFacts({ source, top, inMovie, video, budget }, tracks),
    blanks: findMp4Metadata({ source, top, inMovie, tracks, budget }),
  };
}

function readFacts(parts: Mp4Parts, tracks: readonly Mp4Track[]): VideoFacts {
  const { source, top, inMovie, video } = parts;
  const audio = tracks.find(({ isAudio }) => isAudio);
  const fragmented = inMovie.some(({ type }) => type === "mvex");
  // Odd boxes cost the file only its facts, so that they have a budget of their own.
  const own = { source, budget: { left: MAX_FACT_BOXES } };
  const descriptionOf = ({ tables }: Mp4Track) => tables.get("stsd");
  const soundDescription = audio && descriptionOf(audio);
  const description = descriptionOf(video);
  const firstOf = (wanted: string) => top.findIndex(({ type }) => type === wanted);
  return {
    ...(description === undefined ? UNKNOWN : readVideoCodec(own, description)),
    fps: fragmented ? readFragmentFps(parts) : readFps(source, video),
    audioCodec: soundDescription === undefined ? null : readAudioCodec(own, soundDescription),
    fastStart: firstOf("moov") < firstOf("mdat"),
    fragmented,
  };
}

/** The number of samples in the time that they take together. */
function readFps(source: ByteSource, { tables, duration, timescale }: Mp4Track): number | null {
  const sizes = tables.get("stsz") ?? tables.get("stz2");
  if (sizes === undefined || duration === 0) return null;
  return toFps((payloadOf(source, sizes, 12).readUInt32BE(8) * timescale) / duration);
}

function readFragmentFps(parts: Mp4Parts): number | null {
  const ticks = readSampleDuration(parts);
  return ticks === 0 ? null : toFps(parts.video.timescale / ticks);
}

function readDuration(parts: Mp4Parts): number {
  const header = parts.inMovie.find(({ type }) => type === "mvhd");
  if (header === undefined) throw unreadable("The video has no movie header.");
  const movie = readMovieHeader(parts.source, header);
  const { video } = parts;
  const fromMovie = (movie.duration / movie.timescale) * 1000;
  const fromTrack = (video.duration / video.timescale) * 1000;
  const durationMs = Math.round(
    fromMovie || fromTrack || (readFragmentsEnd(parts) / video.timescale) * 1000,
  );
  if (durationMs > MAX_DURATION_MS)
    throw unreadable("The video claims a duration of over 24 hours.");
  if (durationMs < 1) throw unreadable("The video claims a duration of zero.");
  return durationMs;
}

function readMovieHeader(source: ByteSource, box: Box): { timescale: number; duration: number } {
  const { timescale, duration } = readTimes(source, box);
  if (timescale === 0) throw unreadable("The video has a timescale of zero.");
  return { timescale, duration };
}
