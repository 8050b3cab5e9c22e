import { unreadable } from "#src/domain/media-rejected.ts";
import type { ByteSource } from "./byte-source.ts";
import { readBoxes, type Box, type BoxBudget } from "./mp4-box.ts";
import { readFragmentsEnd, type Mp4Parts } from "./mp4-fragments.ts";
import { findMp4Metadata } from "./mp4-metadata.ts";
import { readTimes } from "./mp4-times.ts";
import { readMp4Track } from "./mp4-track.ts";
import { MAX_DURATION_MS, type VideoLayout } from "./video-layout.ts";

const MAX_BOXES = 100_000;

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
  if (video === undefined) throw unreadable("The video has no video track.");
  if (!top.some(({ type }) => type === "mdat")) throw unreadable("The video has no media data.");
  return {
    width: video.width,
    height: video.height,
    durationMs: readDuration({ source, top, inMovie, video, budget }),
    blanks: findMp4Metadata({ source, top, inMovie, tracks, budget }),
  };
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
