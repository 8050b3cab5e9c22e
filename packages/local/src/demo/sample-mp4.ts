export interface SampleVideo {
  readonly brand: string;
  readonly seconds: number;
  readonly framesPerSecond: number;
  /**
   * Frame width in pixels. Width and height are multiples of 16; a frame has 1.5 bytes per pixel.
   */
  readonly width: number;
  readonly height: number;
  readonly rotation: number;
  /**
   * Additional MP4 boxes at the end of the `moov` box, at the end of its track, and at the end of
   * the file.
   */
  readonly inMovie: readonly Buffer[];
  readonly inTrack: readonly Buffer[];
  readonly behind: readonly Buffer[];
}

/**
 * Number of pictures per second of a sample video; each is shown for several frames, so that the
 * file stays small.
 */
const PICTURES_PER_SECOND = 10;
const TIMESCALE = 600;
const SIDE = 16;
/**
 * First bytes of an H.264 baseline sequence parameter set; level 4 allows frames of up to 2,048 x
 * 1,024.
 */
const SEQUENCE_HEAD = Buffer.from("67420028", "hex");
const PICTURE = Buffer.from("68ce3880", "hex");
const SLICE = Buffer.from("6588840868", "hex");
const PCM_MACROBLOCK = Buffer.from("0d00", "hex");

/**
 * Generates a short valid video: H.264, 128 x 96 pixels and 30 frames per second by default, no
 * sound, `moov` in front.
 */
export function sampleMp4(options: Partial<SampleVideo> = {}): Uint8Array<ArrayBuffer> {
  const video: SampleVideo = {
    brand: "isom",
    seconds: 1,
    framesPerSecond: 30,
    width: 128,
    height: 96,
    rotation: 0,
    inMovie: [],
    inTrack: [],
    behind: [],
    ...options,
  };
  const count = Math.max(1, Math.round(video.seconds * PICTURES_PER_SECOND));
  const frames = Array.from({ length: count }, (_, index) => frame(video, index));
  const type = box("ftyp", ascii(video.brand), u32(512), ascii(video.brand));
  // This first call only measures the length of the `moov` box, with 0 as the offset of the frames.
  // The offset is a field of fixed length, so the box with the real offset has the same length.
  const movieBytes = movie(video, frames, 0).length;
  const data = type.length + movieBytes + 8;
  return Uint8Array.from(
    Buffer.concat([type, movie(video, frames, data), box("mdat", ...frames), ...video.behind]),
  );
}

export function box(type: string, ...payload: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(payload);
  return Buffer.concat([u32(content.length + 8), ascii(type), content]);
}

export function u32(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  values.forEach((value, index) => bytes.writeUInt32BE(value >>> 0, 4 * index));
  return bytes;
}

export function ascii(text: string): Buffer {
  return Buffer.from(text, "latin1");
}

function u16(...values: readonly number[]): Buffer {
  return Buffer.from(values.flatMap((value) => [(value >> 8) & 255, value & 255]));
}

/** The number plus one in bits, after one zero for each of them except the first. */
function exponentialGolomb(value: number): string {
  const bits = (value + 1).toString(2);
  return "0".repeat(bits.length - 1) + bits;
}

/** Every frame is an IDR picture of uncompressed macroblocks, so no encoder is needed. */
function sequence({ width, height }: SampleVideo): Buffer {
  const sides = [width, height].map((side) => exponentialGolomb(side / SIDE - 1));
  // The bits before the frame size in the H.264 parameter set are five zeros and "no gaps". The
  // bits after it are: whole frames, no cropping, no usability information, and the end.
  const bits = `111110${sides.join("")}10001`;
  const bytes = bits.padEnd(Math.ceil(bits.length / 8) * 8, "0").match(/.{8}/g) ?? [];
  return Buffer.concat([SEQUENCE_HEAD, Buffer.from(bytes.map((byte) => Number.parseInt(byte, 2)))]);
}

/** With its length in front. Pixels are never 0, so a frame contains no H.264 start code. */
function frame({ width, height }: SampleVideo, index: number): Buffer {
  const count = (width / SIDE) * (height / SIDE);
  const macroblocks = Array.from({ length: count }, (_, at) => {
    const luma = Buffer.alloc(256, 32 + ((at * 4 + index * 8) % 200));
    // The H.264 slice header already contains the header of the first macroblock.
    const header = at === 0 ? zeros(0) : PCM_MACROBLOCK;
    return Buffer.concat([header, luma, Buffer.alloc(128, 128)]);
  });
  const unit = Buffer.concat([SLICE, ...macroblocks, Buffer.from([0x80])]);
  return Buffer.concat([u32(unit.length), unit]);
}

function movie(video: SampleVideo, frames: readonly Buffer[], dataAt: number): Buffer {
  const duration = frames.length * (1000 / PICTURES_PER_SECOND);
  const header = box(
    "mvhd",
    u32(0, 0, 0, 1000, duration, 0x10000),
    u16(0x100),
    zeros(10),
    matrix(0),
    zeros(24),
    u32(2),
  );
  return box("moov", header, track(video, frames, dataAt, duration), ...video.inMovie);
}

function track(
  video: SampleVideo,
  frames: readonly Buffer[],
  dataAt: number,
  duration: number,
): Buffer {
  const size = u32(video.width << 16, video.height << 16);
  const header = box("tkhd", u32(3, 0, 0, 1, 0, duration), zeros(16), matrix(video.rotation), size);
  const mediaHeader = box(
    "mdhd",
    u32(0, 0, 0, TIMESCALE, (duration * TIMESCALE) / 1000),
    u16(0x55c4, 0),
  );
  const handler = box("hdlr", u32(0, 0), ascii("vide"), zeros(12), ascii("Video\0"));
  const place = box("dinf", box("dref", u32(0, 1), box("url ", u32(1))));
  const information = box(
    "minf",
    box("vmhd", u32(1), zeros(8)),
    place,
    sampleTable(video, frames, dataAt),
  );
  return box("trak", header, box("mdia", mediaHeader, handler, information), ...video.inTrack);
}

function sampleTable(video: SampleVideo, frames: readonly Buffer[], dataAt: number): Buffer {
  const parameters = sequence(video);
  const configuration = box(
    "avcC",
    Buffer.from([1, ...SEQUENCE_HEAD.subarray(1), 0xff, 0xe1]),
    u16(parameters.length),
    parameters,
    Buffer.from([1]),
    u16(PICTURE.length),
    PICTURE,
  );
  const entry = box(
    "avc1",
    zeros(6),
    u16(1),
    zeros(16),
    u16(video.width, video.height),
    u32(0x480000, 0x480000, 0),
    u16(1),
    zeros(32),
    u16(24, 0xffff),
    configuration,
  );
  // The number of frames is seldom that of the pictures, so each frame names the picture that it
  // shows.
  const seconds = frames.length / PICTURES_PER_SECOND;
  const count = Math.max(1, Math.round(seconds * video.framesPerSecond));
  const shown = Array.from({ length: count }, (_, at) => Math.floor((at * frames.length) / count));
  const starts = frames.map((_, at) =>
    frames.slice(0, at).reduce((sum, { length }) => sum + length, dataAt),
  );
  return box(
    "stbl",
    box("stsd", u32(0, 1), entry),
    box("stts", u32(0, 1, count, (seconds * TIMESCALE) / count)),
    box("stsc", u32(0, 1, 1, 1, 1)),
    box("stsz", u32(0, 0, count, ...shown.map((at) => frames[at]?.length ?? 0))),
    box("stco", u32(0, count, ...shown.map((at) => starts[at] ?? 0))),
  );
}

/** Encodes the MP4 matrix of a clockwise rotation, with the rows {a b u, c d v, x y w}. */
function matrix(rotation: number): Buffer {
  const one = 0x10000;
  const [a, b, c, d] = { 90: [0, one, -one, 0], 180: [-one, 0, 0, -one], 270: [0, -one, one, 0] }[
    rotation
  ] ?? [one, 0, 0, one];
  return u32(a ?? 0, b ?? 0, 0, c ?? 0, d ?? 0, 0, 0, 0, 0x40000000);
}

function zeros(length: number): Buffer {
  return Buffer.alloc(length);
}
