/** What a simulated platform reads of an MP4 or MOV. What the file does not say is undefined. */
export interface Mp4Facts {
  /** Type of the video's sample entry, for example `avc1`. */
  readonly video: string;
  /**
   * Number of the H.264 profile; above 100 are those for more than 8 bits or another subsampling
   * than 4:2:0.
   */
  readonly avcProfile?: number;
  /** Type of the sound's sample entry, and for `mp4a` its object type, for example `mp4a.40`. */
  readonly audio?: string;
  readonly fps?: number;
  /** Whether the box `moov` lies in front of the frames. */
  readonly isFastStart: boolean;
}

/** The size of a video in pixels, as it is shown. */
interface Mp4Size {
  readonly width: number;
  readonly height: number;
}

interface Piece {
  readonly type: string;
  readonly from: number;
  readonly to: number;
}

function* pieces(file: Buffer, from: number, to: number): Generator<Piece> {
  for (let at = from; at + 8 <= to;) {
    const short = file.readUInt32BE(at);
    const isLong = short === 1 && at + 16 <= to;
    const bytes = isLong ? Number(file.readBigUInt64BE(at + 8)) : short;
    const end = short === 0 ? to : at + bytes;
    yield { type: file.toString("latin1", at + 4, at + 8), from: at + (isLong ? 16 : 8), to: end };
    if (end <= at || end > to) return;
    at = end;
  }
}

function find(file: Buffer, piece: Piece | undefined, ...path: string[]): Piece | undefined {
  const [type, ...rest] = path;
  if (piece === undefined || type === undefined) return piece;
  const inside = [...pieces(file, piece.from, Math.min(piece.to, file.length))];
  return find(
    file,
    inside.find((one) => one.type === type),
    ...rest,
  );
}

function trackOf(file: Buffer, movie: Piece, handler: string): Piece | undefined {
  return [...pieces(file, movie.from, movie.to)].find((track) => {
    const found = track.type === "trak" ? find(file, track, "mdia", "hdlr") : undefined;
    return (
      found !== undefined && file.toString("latin1", found.from + 8, found.from + 12) === handler
    );
  });
}

function entryOf(file: Buffer, track: Piece | undefined): Piece | undefined {
  const description = find(file, track, "mdia", "minf", "stbl", "stsd");
  return description && [...pieces(file, description.from + 8, description.to)][0];
}

function rateOf(file: Buffer, track: Piece): { fps?: number } {
  const times = find(file, track, "mdia", "mdhd");
  const sizes = find(file, track, "mdia", "minf", "stbl", "stsz");
  if (times === undefined || sizes === undefined) return {};
  const isLong = file[times.from] === 1;
  const timescale = file.readUInt32BE(times.from + (isLong ? 20 : 12));
  const duration = isLong
    ? Number(file.readBigUInt64BE(times.from + 24))
    : file.readUInt32BE(times.from + 16);
  const frames = file.readUInt32BE(sizes.from + 8);
  return frames === 0 || duration === 0 ? {} : { fps: (frames * timescale) / duration };
}

function audioOf(file: Buffer, entry: Piece | undefined): { audio?: string } {
  if (entry === undefined) return {};
  // The object type follows the tag 4 of an `esds` box and its length, whose bytes but the last
  // have the highest bit.
  const bytes = file.subarray(entry.from, entry.to);
  const box = bytes.indexOf("esds");
  const tag = box < 0 ? -1 : bytes.indexOf(Buffer.of(0x04), box + 8);
  let at = tag + 1;
  while (at < bytes.length && ((bytes[at] ?? 0) & 0x80) !== 0) at += 1;
  const suffix = tag < 0 ? "" : `.${(bytes[at + 1] ?? 0).toString(16)}`;
  return { audio: `${entry.type}${suffix}` };
}

/**
 * Length of a track header of version 0; one of version 1 has three times of 8 bytes instead of 4.
 */
const TRACK_HEADER_BYTES = 84;

/**
 * The size in a track header as it is shown: a matrix that turns the picture by 90 or 270 degrees
 * exchanges the sides.
 */
function trackSize(file: Buffer, track: Piece): Mp4Size | undefined {
  const found = track.type === "trak" ? find(file, track, "tkhd") : undefined;
  const header = file.subarray(found?.from ?? 0, found?.to ?? 0);
  const shift = header[0] === 1 ? 12 : 0;
  if (header.length < TRACK_HEADER_BYTES + shift) return undefined;
  const width = header.readUInt16BE(76 + shift);
  const height = header.readUInt16BE(80 + shift);
  const isTurned = header.readInt32BE(40 + shift) === 0 && header.readInt32BE(44 + shift) !== 0;
  return isTurned ? { width: height, height: width } : { width, height };
}

function sizeOf(file: Buffer, movie: Piece): Mp4Size | undefined {
  const tracks = [...pieces(file, movie.from, Math.min(movie.to, file.length))];
  return tracks
    .map((track) => trackSize(file, track))
    .find((size) => size !== undefined && size.width > 0);
}

function factsOf(file: Buffer, top: readonly Piece[], movie: Piece): Mp4Facts | undefined {
  const track = trackOf(file, movie, "vide");
  const entry = entryOf(file, track);
  if (track === undefined || entry === undefined) return undefined;
  const configuration = file.subarray(entry.from, entry.to).indexOf("avcC");
  const profile = configuration < 0 ? undefined : file[entry.from + configuration + 5];
  const frames = top.find(({ type }) => type === "mdat");
  return {
    video: entry.type,
    ...(profile === undefined ? {} : { avcProfile: profile }),
    ...audioOf(file, entryOf(file, trackOf(file, movie, "soun"))),
    ...rateOf(file, track),
    isFastStart: frames === undefined || movie.from < frames.from,
  };
}

/**
 * Reads the size of an MP4 or MOV, and how it is encoded. The size is missing when no track has
 * one, the encoding when the file, or its beginning, has no whole index with a video.
 */
export function readMp4(file: Buffer): Partial<Mp4Size> & { readonly mp4?: Mp4Facts } {
  const top = [...pieces(file, 0, file.length)];
  const movie = top.find(({ type }) => type === "moov");
  if (movie === undefined) return {};
  const mp4 = movie.to <= file.length ? factsOf(file, top, movie) : undefined;
  return { ...sizeOf(file, movie), ...(mp4 === undefined ? {} : { mp4 }) };
}

/** What a simulated platform takes of MP4 and MOV files, in the terms of the files. */
export interface VideoLimits {
  readonly video: readonly string[];
  readonly audio?: readonly string[];
  /** Whether H.264 must have 8 bits and 4:2:0. */
  readonly plainAvc?: boolean;
  readonly minFps?: number;
  readonly maxFps: number;
  readonly fastStart?: boolean;
}

export const AVC: readonly string[] = ["avc1", "avc3"];
export const HEVC: readonly string[] = ["hvc1", "hev1"];
export const AAC: readonly string[] = ["mp4a.40", "mp4a.66", "mp4a.67", "mp4a.68"];

/** Number of H.264's profile High, above which are those for more than 8 bits and for 4:2:2. */
const HIGH = 100;
/** A mean of 60.2 frames per second counts as 60. */
const FPS_TOLERANCE = 0.5;

function isEncodedOtherwise(facts: Mp4Facts, limits: VideoLimits): boolean {
  const { video, audio, avcProfile = 0, isFastStart } = facts;
  const isPlain = limits.plainAvc !== true || avcProfile <= HIGH;
  const isSoundTaken = audio === undefined || limits.audio?.includes(audio) !== false;
  const isPlaced = limits.fastStart !== true || isFastStart;
  return !limits.video.includes(video) || !isPlain || !isSoundTaken || !isPlaced;
}

interface Readable {
  readonly mp4?: Mp4Facts | undefined;
}

/** Undefined when the platform takes the video, or cannot read it. */
export function videoFault(
  { mp4 }: Readable,
  limits: VideoLimits,
): "encoding" | "frame_rate" | undefined {
  if (mp4 === undefined) return undefined;
  return isEncodedOtherwise(mp4, limits) ? "encoding" : frameRateFault({ mp4 }, limits);
}

/** A rate that cannot be read is taken. */
export function frameRateFault(
  { mp4 }: Readable,
  { minFps = 0, maxFps }: Pick<VideoLimits, "minFps" | "maxFps">,
): "frame_rate" | undefined {
  const { fps = maxFps } = mp4 ?? {};
  const isOutside = fps < minFps - FPS_TOLERANCE || fps > maxFps + FPS_TOLERANCE;
  return isOutside ? "frame_rate" : undefined;
}
