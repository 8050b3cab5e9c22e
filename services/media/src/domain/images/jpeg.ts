import { unreadable } from "#src/domain/media-rejected.ts";
import {
  hasTrailingBytes,
  orientationExif,
  type ImageLayout,
  type ImagePart,
} from "./image-layout.ts";

/** Each scan costs a pass over the whole image; encoders write about ten. */
const MAX_SCANS = 100;
const MAX_SEGMENTS = 10_000;

interface Segment {
  readonly marker: number;
  readonly start: number;
  /** For a scan, the offset after its entropy-coded data. */
  readonly end: number;
}

interface Frame {
  readonly width: number;
  readonly height: number;
  readonly decodeBytes: number;
  readonly lossless: boolean;
}

/** Reads the structure of a JPEG from SOI to EOI (ITU-T T.81, annex B). */
export function readJpeg(file: Buffer): ImageLayout {
  const { segments, end } = readSegments(file);
  const frame = readFrame(file, segments);
  return {
    width: frame.width,
    height: frame.height,
    frames: 1,
    totalPixels: frame.width * frame.height,
    decodeBytes: frame.decodeBytes,
    lossless: frame.lossless,
    hasMetadata:
      hasTrailingBytes(file, end) || segments.some((segment) => isPersonal(file, segment)),
    withoutMetadata: (orientation) => [
      { start: 0, end: 2 },
      ...(orientation === 1 ? [] : [exifSegment(orientation)]),
      ...keptParts(file, segments, end),
    ],
  };
}

function readSegments(file: Buffer): { segments: Segment[]; end: number } {
  const segments: Segment[] = [];
  let scans = 0;
  let at = 2;
  while (segments.length < MAX_SEGMENTS) {
    at = skipFill(file, at);
    const marker = file[at + 1];
    if (marker === undefined) throw unreadable("The JPEG ends before its end marker.");
    if (marker === 0xd9) return { segments, end: at + 2 };
    const end = segmentEnd(file, at);
    if (marker === 0xda) scans += 1;
    if (scans > MAX_SCANS) throw unreadable(`The JPEG has more than ${MAX_SCANS} scans.`);
    segments.push({ marker, start: at, end: marker === 0xda ? scanEnd(file, end) : end });
    at = segments.at(-1)?.end ?? file.length;
  }
  throw unreadable(`The JPEG has more than ${MAX_SEGMENTS} segments.`);
}

/** Any number of fill bytes 0xff may precede a marker. */
function skipFill(file: Buffer, start: number): number {
  if (start < file.length && file[start] !== 0xff)
    throw unreadable("The JPEG has bytes that belong to no segment.");

  let at = start;
  while (file[at + 1] === 0xff) at += 1;
  return at;
}

function segmentEnd(file: Buffer, at: number): number {
  const length = at + 4 <= file.length ? file.readUInt16BE(at + 2) : 0;
  const end = at + 2 + length;
  if (length < 2 || end > file.length) throw unreadable("A segment of the JPEG is truncated.");
  return end;
}

/** A scan ends at the next marker that is not a restart marker. */
function scanEnd(file: Buffer, start: number): number {
  let at = file.indexOf(0xff, start);
  while (at !== -1 && at + 1 < file.length) {
    const next = file[at + 1] ?? 0;
    const isData = next === 0 || (next >= 0xd0 && next <= 0xd7);
    if (!isData && next !== 0xff) return at;
    at = file.indexOf(0xff, at + (isData ? 2 : 1));
  }
  throw unreadable("The JPEG ends before its end marker.");
}

function readFrame(file: Buffer, segments: readonly Segment[]): Frame {
  const frames = segments.filter(({ marker }) => isFrame(marker));
  const [frame] = frames;
  if (frame === undefined || frames.length > 1 || frame.end - frame.start < 10)
    throw unreadable("The JPEG does not have exactly one frame.");

  if (!segments.some(({ marker }) => marker === 0xda))
    throw unreadable("The JPEG has no image data.");

  const height = file.readUInt16BE(frame.start + 5);
  const width = file.readUInt16BE(frame.start + 7);
  // A progressive JPEG, and one with a scan per component, has all coefficients in memory.
  const isBuffered = frame.marker !== 0xc0 && frame.marker !== 0xc1;
  const scans = segments.filter(({ marker }) => marker === 0xda).length;
  const decodeBytes = isBuffered || scans > 1 ? 2 * countSamples(file, frame, width * height) : 0;
  return { width, height, decodeBytes, lossless: frame.marker === 0xc3 };
}

function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
}

/** Number of samples of all components, for example 1.5 per pixel with 4:2:0. */
function countSamples(file: Buffer, frame: Segment, pixels: number): number {
  const factors: number[] = [];
  for (let at = frame.start + 10; at + 3 <= frame.end; at += 3) {
    const sampling = file[at + 1] ?? 0;
    factors.push((sampling >> 4) * (sampling & 15));
  }
  const sum = factors.reduce((total, factor) => total + factor, 0);
  return Math.ceil((pixels * sum) / Math.max(1, ...factors));
}

/**
 * Application segments (EXIF, XMP, IPTC, thumbnails, second images) are metadata, except those that
 * define the colours.
 */
function isPersonal(file: Buffer, { marker, start }: Segment): boolean {
  if (marker < 0xe0 || marker > 0xef) return false;
  const name = file.toString("latin1", start + 4, start + 16);
  if (marker === 0xe0) return !name.startsWith("JFIF\0");
  if (marker === 0xe2) return !name.startsWith("ICC_PROFILE\0");
  return marker !== 0xee || !name.startsWith("Adobe");
}

function keptParts(file: Buffer, segments: readonly Segment[], end: number): ImagePart[] {
  const kept = segments.filter((segment) => segment.marker !== 0xfe && !isPersonal(file, segment));
  return [...kept.map(({ start, end }) => ({ start, end })), { start: end - 2, end }];
}

function exifSegment(orientation: number): Uint8Array {
  const exif = orientationExif(orientation);
  const head = Buffer.from([0xff, 0xe1, 0, exif.length + 8]);
  return Buffer.concat([head, Buffer.from("Exif\0\0", "latin1"), exif]);
}
