import { MediaRejected } from "#src/domain/media-rejected.ts";
import { type Box, type BoxReader, isType, nameOf } from "./mp4-box.ts";
import { pixelFormatOf, type VideoFacts } from "./video-layout.ts";

/** Keys are types of sample entries (mp4ra.org, codecs; QuickTime File Format). */
const CODECS: ReadonlyMap<string, string> = new Map([
  ...["avc1", "avc2", "avc3", "avc4", "dva1", "dvav"].map((type) => [type, "h264"] as const),
  ...["hvc1", "hev1", "dvh1", "dvhe"].map((type) => [type, "hevc"] as const),
  ...["apch", "apcn", "apcs", "apco", "ap4h", "ap4x"].map((type) => [type, "prores"] as const),
  ...["jpeg", "mjpa", "mjpb"].map((type) => [type, "mjpeg"] as const),
  ...["sowt", "twos", "lpcm", "ipcm", "fpcm", "in24", "in32", "fl32", "fl64", "raw ", "NONE"].map(
    (type) => [type, "pcm"] as const,
  ),
  ["vp08", "vp8"],
  ["vp09", "vp9"],
  ["av01", "av1"],
  [".mp3", "mp3"],
  ["Opus", "opus"],
  ["fLaC", "flac"],
  ["ac-3", "ac3"],
  ["ec-3", "eac3"],
  ["samr", "amr"],
]);
/** Keys are object types in an `esds` box (ISO/IEC 14496-1, table 5; mp4ra.org, object types). */
const OBJECT_TYPES: ReadonlyMap<number, string> = new Map([
  [0x20, "mpeg4"],
  [0x21, "h264"],
  [0x23, "hevc"],
  [0x40, "aac"],
  [0x66, "aac"],
  [0x67, "aac"],
  [0x68, "aac"],
  [0x69, "mp3"],
  [0x6b, "mp3"],
  [0x6a, "mpeg1video"],
  ...[0x60, 0x61, 0x62, 0x63, 0x64, 0x65].map((type) => [type, "mpeg2video"] as const),
  [0xa5, "ac3"],
  [0xa6, "eac3"],
  [0xad, "opus"],
  [0xdd, "vorbis"],
]);
const MAX_CONFIGURATION_BYTES = 4096;
/** Fields before the boxes of a sample entry (ISO/IEC 14496-12, section 12.1.3). */
const VIDEO_FIELDS = 78;
const AUDIO_FIELDS = 28;
/** What versions 1 and 2 of QuickTime's sound description add to an audio entry. */
const QUICKTIME_EXTRA: readonly number[] = [0, 16, 36];

/** What the `stsd` box does not say, or says wrongly, is null. */
export function readVideoCodec(
  reader: BoxReader,
  description: Box,
): Pick<VideoFacts, "codec" | "profile" | "pixelFormat"> {
  const entry = readEntry(reader, description);
  if (entry === undefined) return { codec: "unknown", profile: null, pixelFormat: null };
  const boxes = readChildren(reader, entry, VIDEO_FIELDS);
  const configuration = (type: string) => readPayload(reader, boxes, type);
  const codec = nameOfCodec(entry, configuration("esds"));
  return { codec, profile: null, pixelFormat: null, ...readConfiguration(configuration) };
}

export function readAudioCodec(reader: BoxReader, description: Box): string {
  const entry = readEntry(reader, description);
  if (entry === undefined) return "unknown";
  return nameOfCodec(entry, readPayload(reader, readAudioBoxes(reader, entry), "esds"));
}

/** QuickTime wraps them into a box `wave`. */
function readAudioBoxes(reader: BoxReader, entry: Box): readonly Box[] {
  const version = tryRead(() => reader.payload(entry, 2, 8).readUInt16BE(0)) ?? 0;
  const sizes = new Set([AUDIO_FIELDS + (QUICKTIME_EXTRA[version] ?? 0), AUDIO_FIELDS]);
  for (const fields of sizes) {
    const boxes = readChildren(reader, entry, fields);
    const wave = boxes.find(isType("wave"));
    if (wave !== undefined) return readChildren(reader, wave, 0);
    if (boxes.length > 0) return boxes;
  }
  return [];
}

function readEntry(reader: BoxReader, description: Box): Box | undefined {
  const range = { payload: description.payload + 8, end: description.end };
  return tryRead(() => reader.boxes(range))?.[0];
}

function readChildren(reader: BoxReader, parent: Box, fields: number): readonly Box[] {
  const payload = parent.payload + fields;
  if (payload >= parent.end) return [];
  return tryRead(() => reader.boxes({ payload, end: parent.end })) ?? [];
}

function readPayload(reader: BoxReader, boxes: readonly Box[], type: string): Buffer | undefined {
  const box = boxes.find(isType(type));
  if (box === undefined) return undefined;
  const bytes = Math.min(MAX_CONFIGURATION_BYTES, box.end - box.payload);
  return Buffer.from(reader.source.read(box.payload, bytes));
}

function nameOfCodec(entry: Box, descriptor: Buffer | undefined): string {
  if (entry.type !== "mp4a" && entry.type !== "mp4v")
    return CODECS.get(entry.type) ?? nameOf(entry).trim().toLowerCase();
  const objectType = descriptor === undefined ? undefined : readObjectType(descriptor);
  const fallback = entry.type === "mp4a" ? "aac" : "mpeg4";
  return objectType === undefined ? fallback : (OBJECT_TYPES.get(objectType) ?? "unknown");
}

/** The first byte of the DecoderConfigDescriptor (ISO/IEC 14496-1, section 7.2.6). */
function readObjectType(descriptor: Buffer): number | undefined {
  let at = skipHeader(descriptor, 4);
  if (descriptor[4] === 0x03) {
    const flags = descriptor[at + 2] ?? 0;
    at += 3 + (flags & 0x80 ? 2 : 0) + (flags & 0x20 ? 2 : 0);
    if (flags & 0x40) at += 1 + (descriptor[at] ?? 0);
  } else at = 4;
  return descriptor[at] === 0x04 ? descriptor[skipHeader(descriptor, at)] : undefined;
}

/** A length has one to four bytes. */
function skipHeader(bytes: Buffer, at: number): number {
  let end = at + 1;
  while (end < at + 4 && ((bytes[end] ?? 0) & 0x80) !== 0) end += 1;
  return end + 1;
}

function readConfiguration(
  find: (type: string) => Buffer | undefined,
): Partial<Pick<VideoFacts, "profile" | "pixelFormat">> {
  const avc = find("avcC");
  if (avc !== undefined) return readAvcConfiguration(avc);
  const hevc = find("hvcC");
  if (hevc !== undefined && hevc.length > 17) return readHevcConfiguration(hevc);
  const vp = find("vpcC");
  if (vp !== undefined && vp.length > 6) return readVpConfiguration(vp);
  const av1 = find("av1C");
  return av1 !== undefined && av1.length > 2 ? readAv1Configuration(av1) : {};
}

const HEVC_PROFILES = [null, "main", "main 10", "main still picture", "range extensions"] as const;

/** ISO/IEC 14496-15, section 8.3.3. */
function readHevcConfiguration(bytes: Buffer) {
  const profile = HEVC_PROFILES[(bytes[1] ?? 0) & 0x1f] ?? null;
  return { profile, pixelFormat: pixelFormatOf((bytes[16] ?? 0) & 3, 8 + ((bytes[17] ?? 0) & 7)) };
}

/** webmproject.org, VP Codec ISO Media File Format Binding. */
function readVpConfiguration(bytes: Buffer) {
  const packed = bytes[6] ?? 0;
  const chroma = Math.max(1, (packed >> 1) & 7);
  return { profile: `profile ${bytes[4] ?? 0}`, pixelFormat: pixelFormatOf(chroma, packed >> 4) };
}

/** AV1 Codec ISO Media File Format Binding, section 2.3.3. */
function readAv1Configuration(bytes: Buffer) {
  const flags = bytes[2] ?? 0;
  const has = (bit: number) => (flags & bit) !== 0;
  const bits = has(0x40) ? (has(0x20) ? 12 : 10) : 8;
  const subsampled = has(0x08) ? (has(0x04) ? 1 : 2) : 3;
  const profile = ["main", "high", "professional"][(bytes[1] ?? 0) >> 5] ?? null;
  return { profile, pixelFormat: pixelFormatOf(has(0x10) ? 0 : subsampled, bits) };
}

function tryRead<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof MediaRejected) return undefined;
    throw error;
  }
}

/** Profiles of H.264 (ITU-T H.264, annex A) by their number. */
const PROFILES: ReadonlyMap<number, string> = new Map([
  [66, "baseline"],
  [77, "main"],
  [88, "extended"],
  [100, "high"],
  [110, "high 10"],
  [122, "high 4:2:2"],
  [244, "high 4:4:4"],
]);
/** Profiles whose parameter set states chroma format and bits. */
const DETAILED = new Set([100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135]);

/** Reads an `avcC` payload (ISO/IEC 14496-15, section 5.3.3). */
function readAvcConfiguration(configuration: Buffer): {
  readonly profile: string | null;
  readonly pixelFormat: string | null;
} {
  const number = configuration[1] ?? 0;
  const profile = PROFILES.get(number) ?? null;
  if (!DETAILED.has(number)) return { profile, pixelFormat: profile && "yuv420p" };
  const count = (configuration[5] ?? 0) & 0x1f;
  // The set follows its length of two bytes; its first four bytes are header, profile, flags and
  // level.
  const set = configuration.subarray(8 + 4);
  return { profile, pixelFormat: count === 0 ? null : readFormat(set) };
}

function readFormat(set: Buffer): string | null {
  const bits = new BitReader(withoutEmulation(set));
  bits.exponentialGolomb();
  const chroma = bits.exponentialGolomb();
  if (chroma === 3) bits.bit();
  const depth = 8 + bits.exponentialGolomb();
  return bits.isBeyondEnd ? null : pixelFormatOf(chroma, depth);
}

/**
 * Removes the third byte of each 0, 0, 3, which keeps the data from containing a start code.
 * Sixteen bytes are enough.
 */
function withoutEmulation(bytes: Buffer): Buffer {
  const start = bytes.subarray(0, 16);
  return Buffer.from(
    start.filter((byte, at) => !(byte === 3 && start[at - 1] === 0 && start[at - 2] === 0)),
  );
}

class BitReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isBeyondEnd(): boolean {
    return this.#at > this.#bytes.length * 8;
  }

  bit(): number {
    const byte = this.#bytes[this.#at >> 3] ?? 0;
    const value = (byte >> (7 - (this.#at & 7))) & 1;
    this.#at += 1;
    return value;
  }

  /** Reads an unsigned number in Exp-Golomb code (ITU-T H.264, section 9.1). */
  exponentialGolomb(): number {
    let zeros = 0;
    while (zeros < 31 && !this.isBeyondEnd && this.bit() === 0) zeros += 1;
    let value = 1;
    for (let left = zeros; left > 0; left -= 1) value = value * 2 + this.bit();
    return value - 1;
  }
}
