import { unreadable, unsupportedType } from "#src/domain/media-rejected.ts";
import type { ByteSource } from "./byte-source.ts";
import { payloadOf, readBoxes, type Box, type BoxBudget } from "./mp4-box.ts";
import { readAudioCodec, readVideoCodec } from "./mp4-codecs.ts";
import { readFragmentsEnd, readSampleDuration, type Mp4Parts } from "./mp4-fragments.ts";
import { findMp4Metadata } from "./mp4-metadata.ts";
import { readTimes } from "./mp4-times.ts";
import { readMp4Track, type Mp4Track } from "./mp4-track.ts";
import { toFps, type VideoFacts } from "./video-facts.ts";
import { MAX_DURATION_MS, type VideoLayout } from "./video-layout.ts";

const MAX_BOXES = 100_000;
const MAX_FACT_BOXES = 1_000;
const UNKNOWN = { codec: "unknown", profile: null, pixelFormat: null } as const;

/** Parses an MP4 or QuickTime video without reading its samples (ISO/IEC 14496-12; QuickTime File Format). */
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
  // A movie whose boxes are odd costs the file only its facts, so that they have a budget of their own.
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

/** Returns the mean number of frames per second: the number of samples in the time that they take together. */
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
