import { unreadable, unsupportedType } from "#src/domain/media-rejected.ts";
import { type Box, BoxReader, isType } from "./mp4-box.ts";
import { readAudioCodec, readVideoCodec } from "./mp4-codecs.ts";
import { findMp4Metadata } from "./mp4-metadata.ts";
import { type Mp4Track, readMp4Track, readTimes } from "./mp4-track.ts";
import {
  type ByteSource,
  MAX_DURATION_MS,
  toFps,
  type VideoFacts,
  type VideoLayout,
} from "./video-layout.ts";

interface Mp4Parts {
  readonly reader: BoxReader;
  readonly top: readonly Box[];
  readonly inMovie: readonly Box[];
  readonly video: Mp4Track;
}

/** The time in ticks that a sample takes where its fragment does not state it. */
function readDefaultDuration({ reader, inMovie, video }: Mp4Parts): number {
  const own = inMovie
    .filter(isType("mvex"))
    .slice(0, 1)
    .flatMap((extension) => reader.boxes(extension))
    .filter(isType("trex"))
    .map((box) => reader.payload(box, 24))
    .find((payload) => payload.readUInt32BE(4) === video.id);
  return own?.readUInt32BE(12) ?? 0;
}

/** The parts of all tracks in a fragment (`moof`). */
function readTrackFragments(reader: BoxReader, fragment: Box) {
  return reader
    .boxes(fragment)
    .filter(isType("traf"))
    .flatMap((part) => {
      const boxes = reader.boxes(part);
      const header = boxes.find(isType("tfhd"));
      if (header === undefined) return [];
      const trackId = reader.payload(header, 8).readUInt32BE(4);
      return [{ boxes, trackId, sampleDuration: statedDuration(reader, header) }];
    });
}

/** The end of the last fragment in ticks, for videos whose header does not state the duration. */
function readFragmentsEnd(parts: Mp4Parts): number {
  const { reader, top, inMovie, video } = parts;
  if (!inMovie.some(isType("mvex"))) return 0;
  const defaultDuration = readDefaultDuration(parts);
  let last = 0;
  for (const fragment of top.filter(isType("moof")))
    for (const { boxes, trackId, sampleDuration } of readTrackFragments(reader, fragment)) {
      if (trackId !== video.id) continue;
      const time = boxes.find(isType("tfdt"));
      let end = time === undefined ? 0 : readDecodeTime(reader, time);
      for (const run of boxes.filter(isType("trun")))
        end += runDuration(reader, run, sampleDuration ?? defaultDuration);
      last = Math.max(last, end);
    }
  return last;
}

/** The time in ticks of the first sample in the first fragment; 0 when it is not known. */
function readSampleDuration(parts: Mp4Parts): number {
  const { reader, top, inMovie, video } = parts;
  const first = top.find(isType("moof"));
  if (first === undefined || !inMovie.some(isType("mvex"))) return 0;
  const own = readTrackFragments(reader, first)
    .map(({ boxes, trackId, sampleDuration }) => {
      const run = boxes.find(isType("trun"));
      const stated = run === undefined ? undefined : firstDuration(reader, run);
      return { trackId, sampleDuration: stated ?? sampleDuration };
    })
    .find(({ trackId }) => trackId === video.id);
  return own === undefined ? 0 : (own.sampleDuration ?? readDefaultDuration(parts));
}

function readDecodeTime(reader: BoxReader, box: Box): number {
  const isLong = reader.payload(box, 1)[0] === 1;
  const payload = reader.payload(box, isLong ? 12 : 8);
  return isLong ? Number(payload.readBigUInt64BE(4)) : payload.readUInt32BE(4);
}

function statedDuration(reader: BoxReader, header: Box): number | undefined {
  const flags = reader.payload(header, 4).readUInt32BE(0);
  if ((flags & 8) === 0) return undefined;
  const skip = 8 + (flags & 1 ? 8 : 0) + (flags & 2 ? 4 : 0);
  return reader.payload(header, 4, skip).readUInt32BE(0);
}

/** Where a `trun` box has the durations of its samples; `each` is 0 when it states none. */
function readRun(reader: BoxReader, run: Box) {
  const head = reader.payload(run, 8);
  const flags = head.readUInt32BE(0);
  const fields = [0x100, 0x200, 0x400, 0x800].filter((bit) => (flags & bit) !== 0);
  const skip = 8 + (flags & 1 ? 4 : 0) + (flags & 4 ? 4 : 0);
  return { count: head.readUInt32BE(4), skip, each: flags & 0x100 ? 4 * fields.length : 0 };
}

function firstDuration(reader: BoxReader, run: Box): number | undefined {
  const { count, skip, each } = readRun(reader, run);
  if (each === 0 || count === 0) return undefined;
  return reader.payload(run, 4, skip).readUInt32BE(0);
}

function runDuration(reader: BoxReader, run: Box, sampleDuration: number): number {
  const { count, skip, each } = readRun(reader, run);
  if (each === 0) return count * sampleDuration;
  const table = reader.payload(run, count * each, skip);
  let total = 0;
  for (let at = 0; at < table.length; at += each) total += table.readUInt32BE(at);
  return total;
}

const MAX_BOXES = 100_000;
const MAX_FACT_BOXES = 1_000;
const UNKNOWN = { codec: "unknown", profile: null, pixelFormat: null } as const;

/** Parses a video without its samples (ISO/IEC 14496-12; QuickTime File Format). */
export function readMp4(source: ByteSource): VideoLayout {
  const reader = new BoxReader(source, MAX_BOXES);
  const top = reader.boxes({ payload: 0, end: source.bytes });
  const movies = top.filter(isType("moov"));
  const [movie] = movies;
  if (movie === undefined) throw unreadable("The video has no moov box.");
  if (movies.length > 1) throw unreadable("The video has more than one moov box.");
  const inMovie = reader.boxes(movie);
  const isFragmented = inMovie.some(isType("mvex"));
  const tracks = inMovie
    .filter(isType("trak"))
    .map((box) => readMp4Track(reader, box, isFragmented));
  const video = tracks.find(({ isVideo }) => isVideo);
  if (video === undefined)
    throw tracks.some(({ isAudio }) => isAudio)
      ? unsupportedType("audio/mp4")
      : unreadable("The video has no video track.");
  if (!top.some(isType("mdat"))) throw unreadable("The video has no media data.");
  const parts = { reader, top, inMovie, video };
  return {
    width: video.width,
    height: video.height,
    durationMs: readDuration(parts),
    facts: readFacts(parts, tracks),
    blanks: findMp4Metadata({ reader, top, inMovie, tracks }),
  };
}

function readFacts(parts: Mp4Parts, tracks: readonly Mp4Track[]): VideoFacts {
  const { reader, top, inMovie, video } = parts;
  const audio = tracks.find(({ isAudio }) => isAudio);
  const fragmented = inMovie.some(isType("mvex"));
  // Odd boxes cost the file only its facts, so that they have a budget of their own.
  const own = new BoxReader(reader.source, MAX_FACT_BOXES);
  const descriptionOf = ({ tables }: Mp4Track) => tables.get("stsd");
  const soundDescription = audio && descriptionOf(audio);
  const description = descriptionOf(video);
  const firstOf = (wanted: string) => top.findIndex(isType(wanted));
  return {
    ...(description === undefined ? UNKNOWN : readVideoCodec(own, description)),
    fps: fragmented ? readFragmentFps(parts) : readFps(reader, video),
    audioCodec: soundDescription === undefined ? null : readAudioCodec(own, soundDescription),
    fastStart: firstOf("moov") < firstOf("mdat"),
    fragmented,
  };
}

/** The number of samples in the time that they take together. */
function readFps(reader: BoxReader, { tables, duration, timescale }: Mp4Track): number | null {
  const sizes = tables.get("stsz") ?? tables.get("stz2");
  if (sizes === undefined || duration === 0) return null;
  return toFps((reader.payload(sizes, 12).readUInt32BE(8) * timescale) / duration);
}

function readFragmentFps(parts: Mp4Parts): number | null {
  const ticks = readSampleDuration(parts);
  return ticks === 0 ? null : toFps(parts.video.timescale / ticks);
}

function readDuration(parts: Mp4Parts): number {
  const header = parts.inMovie.find(isType("mvhd"));
  if (header === undefined) throw unreadable("The video has no movie header.");
  const movie = readMovieHeader(parts.reader, header);
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

function readMovieHeader(reader: BoxReader, box: Box): { timescale: number; duration: number } {
  const { timescale, duration } = readTimes(reader, box);
  if (timescale === 0) throw unreadable("The video has a timescale of zero.");
  return { timescale, duration };
}
