import { unreadable } from "#src/domain/media-rejected.ts";
import { copyBox, findBox, type HeldBox, heldBoxes, writeBox } from "./mp4-box.ts";

const VIDEO_FIELDS = 78;
const AUDIO_FIELDS = 28;
/** What versions 1 and 2 of QuickTime's sound description add to an audio entry. */
const QUICKTIME_EXTRA: readonly number[] = [0, 16, 36];
/** Boxes that MP4 files have too. */
const VIDEO_BOXES = new Set(
  "avcC hvcC hvcE lhvC dvcC dvvC dvwC pasp clap colr btrt mdcv clli".split(" "),
);
const VIDEO_TYPES = new Set(["avc1", "avc3", "hvc1", "hev1"]);

/**
 * Makes the `stsd` box of an MP4 from QuickTime's; undefined unless all entries are H.264, HEVC or
 * AAC, which MP4 contains in the same form.
 */
function toMp4Description(description: HeldBox, isVideo: boolean): Buffer | undefined {
  const entries = heldBoxes(description.payload.subarray(8));
  const made = entries.map((entry) => (isVideo ? toVideoEntry(entry) : toAudioEntry(entry)));
  const known = made.filter((entry) => entry !== undefined);
  if (known.length === 0 || known.length !== made.length) return undefined;
  const head = Buffer.alloc(8);
  head.writeUInt32BE(known.length, 4);
  return writeBox("stsd", head, ...known);
}

function toVideoEntry({ type, payload }: HeldBox): Buffer | undefined {
  if (!VIDEO_TYPES.has(type) || payload.length < VIDEO_FIELDS) return undefined;
  const fields = Buffer.from(payload.subarray(0, VIDEO_FIELDS));
  fields.writeUInt16BE(1, 6);
  // QuickTime has a version, a vendor and a quality where MP4 has zeros.
  fields.fill(0, 8, 24);
  const boxes = heldBoxes(payload.subarray(VIDEO_FIELDS)).filter((box) =>
    VIDEO_BOXES.has(box.type),
  );
  const has = (wanted: string) => findBox(boxes, wanted) !== undefined;
  if (!has("avcC") && !has("hvcC")) return undefined;
  return writeBox(type, fields, ...boxes.map(toMp4Box));
}

/** QuickTime's `nclc` is MP4's `nclx` without a last byte, which says that the range is limited. */
function toMp4Box(box: HeldBox): Buffer {
  const isQuickTimeColour = box.type === "colr" && box.payload.toString("latin1", 0, 4) === "nclc";
  if (!isQuickTimeColour) return copyBox(box);
  return writeBox("colr", Buffer.from("nclx"), box.payload.subarray(4, 10), Buffer.from([0]));
}

function toAudioEntry({ type, payload }: HeldBox): Buffer | undefined {
  if (type !== "mp4a" || payload.length < AUDIO_FIELDS) return undefined;
  const version = payload.readUInt16BE(8);
  const boxes = heldBoxes(payload.subarray(AUDIO_FIELDS + (QUICKTIME_EXTRA[version] ?? 0)));
  const wave = findBox(boxes, "wave");
  const descriptor = findBox(wave === undefined ? boxes : heldBoxes(wave.payload), "esds");
  if (descriptor === undefined) return undefined;
  const fields = Buffer.alloc(AUDIO_FIELDS);
  fields.writeUInt16BE(1, 6);
  fields.writeUInt16BE(version === 2 ? payload.readUInt32BE(40) : payload.readUInt16BE(16), 16);
  fields.writeUInt16BE(16, 18);
  // The rate has 16 bits before the point; players read higher rates from the descriptor.
  const rate = version === 2 ? payload.readDoubleBE(32) : payload.readUInt32BE(24) / 0x1_0000;
  fields.writeUInt32BE(rate < 0x1_0000 ? Math.floor(rate) * 0x1_0000 : 0, 24);
  return writeBox("mp4a", fields, copyBox(descriptor));
}

export interface IndexOptions {
  /** Descriptions then have to be brought into the form of MP4. */
  readonly isQuickTime: boolean;
  /** The new offset of a chunk; undefined for one outside of the copied data. */
  readonly moved: (offset: number) => number | undefined;
  readonly isLarge: boolean;
}

/** The others are written anew, or belong to QuickTime only. */
const TABLES = new Set("stts ctts cslg stss stsz stz2 stsc sgpd sbgp sdtp subs".split(" "));
/** In ISO 639's packed form. */
const UNDETERMINED = 0x55c4;

/**
 * Writes the index (`moov`) anew, with the first video and first audio track and without metadata;
 * undefined when that needs encoding.
 *
 * @throws MediaRejected
 */
export function writeIndex(movie: Buffer, options: IndexOptions): Buffer | undefined {
  const boxes = heldBoxes(movie);
  const header = findBox(boxes, "mvhd");
  const tracks = boxes.filter(({ type }) => type === "trak").map(readTrack);
  const video = tracks.find(({ handler }) => handler === "vide");
  const audio = tracks.find(({ handler }) => handler === "soun");
  if (header === undefined || video === undefined) return undefined;
  const written = [video, ...(audio === undefined ? [] : [audio])]
    .sort((a, b) => tracks.indexOf(a) - tracks.indexOf(b))
    .map((track) => writeTrack(track, options));
  const known = written.filter((track) => track !== undefined);
  if (known.length !== written.length) return undefined;
  return writeBox("moov", writeMovieHeader(header), ...known);
}

interface Track {
  readonly boxes: readonly HeldBox[];
  readonly inMedia: readonly HeldBox[];
  readonly handler: string;
}

function readTrack({ payload }: HeldBox): Track {
  const boxes = heldBoxes(payload);
  const inMedia = heldBoxes(findBox(boxes, "mdia")?.payload);
  const handler = findBox(inMedia, "hdlr")?.payload.toString("latin1", 8, 12) ?? "";
  return { boxes, inMedia, handler };
}

/** QuickTime has times of a preview where MP4 has zeros: 24 bytes before the next track's id. */
function writeMovieHeader({ payload }: HeldBox): Buffer {
  const bytes = Buffer.from(payload);
  bytes.fill(0, Math.max(0, bytes.length - 28), bytes.length - 4);
  return writeBox("mvhd", bytes);
}

function writeTrack({ boxes, inMedia, handler }: Track, options: IndexOptions): Buffer | undefined {
  const header = findBox(boxes, "tkhd");
  const times = findBox(inMedia, "mdhd");
  const information = heldBoxes(findBox(inMedia, "minf")?.payload);
  const table = heldBoxes(findBox(information, "stbl")?.payload);
  const isVideo = handler === "vide";
  const samples = writeTable(table, isVideo, options);
  if (header === undefined || times === undefined || samples === undefined) return undefined;
  if (!isSelfContained(information)) return undefined;
  const place = writeBox("dref", Buffer.from([0, 0, 0, 0, 0, 0, 0, 1]), writeBox("url ", FLAG));
  const kept = boxes.filter(({ type }) => type === "edts" || type === "uuid");
  return writeBox(
    "trak",
    copyBox(header),
    ...kept.map(copyBox),
    writeBox(
      "mdia",
      writeTimes(times),
      writeHandler(handler),
      writeBox("minf", writeMediaHeader(information, isVideo), writeBox("dinf", place), samples),
    ),
  );
}

const FLAG = Buffer.from([0, 0, 0, 1]);

/** A file of QuickTime may refer to samples in other files. */
function isSelfContained(information: readonly HeldBox[]): boolean {
  const place = heldBoxes(findBox(information, "dinf")?.payload);
  const references = findBox(place, "dref")?.payload.subarray(8);
  if (references === undefined) return true;
  return heldBoxes(references).every(({ payload }) => ((payload[3] ?? 0) & 1) === 1);
}

/** QuickTime numbers its languages; MP4 has codes of ISO 639, which begin at 0x400. */
function writeTimes({ payload }: HeldBox): Buffer {
  const bytes = Buffer.from(payload);
  const at = bytes.length - 4;
  if (at >= 0 && bytes.readUInt16BE(at) < 0x400) bytes.writeUInt16BE(UNDETERMINED, at);
  return writeBox("mdhd", bytes);
}

function writeHandler(handler: string): Buffer {
  const name = handler === "vide" ? "VideoHandler" : "SoundHandler";
  const text = Buffer.from(`${handler}${"\0".repeat(12)}${name}\0`, "latin1");
  return writeBox("hdlr", Buffer.alloc(8), text);
}

function writeMediaHeader(information: readonly HeldBox[], isVideo: boolean): Buffer {
  const type = isVideo ? "vmhd" : "smhd";
  const found = findBox(information, type);
  if (found !== undefined) return copyBox(found);
  return isVideo ? writeBox("vmhd", FLAG, Buffer.alloc(8)) : writeBox("smhd", Buffer.alloc(8));
}

function writeTable(
  table: readonly HeldBox[],
  isVideo: boolean,
  options: IndexOptions,
): Buffer | undefined {
  const found = findBox(table, "stsd");
  const chunks = findBox(table, "stco") ?? findBox(table, "co64");
  if (found === undefined || chunks === undefined) return undefined;
  const description = options.isQuickTime ? toMp4Description(found, isVideo) : copyBox(found);
  const offsets = writeOffsets(chunks, options);
  if (description === undefined || offsets === undefined) return undefined;
  const copied = table.filter(({ type }) => TABLES.has(type)).map(writeSigned);
  return writeBox("stbl", description, ...copied, offsets);
}

/** Composition offsets may be negative in QuickTime; in MP4 only in version 1 of their table. */
function writeSigned(box: HeldBox): Buffer {
  if (box.type !== "ctts" || box.payload[0] !== 0) return copyBox(box);
  const { payload } = box;
  for (let at = 12; at + 4 <= payload.length; at += 8)
    if (payload.readInt32BE(at) < 0) return writeBox("ctts", Buffer.from([1]), payload.subarray(1));
  return copyBox(box);
}

function writeOffsets(
  { type, payload }: HeldBox,
  { moved, isLarge }: IndexOptions,
): Buffer | undefined {
  const entry = type === "co64" ? 8 : 4;
  const count = payload.length < 8 ? Infinity : payload.readUInt32BE(4);
  if (8 + count * entry > payload.length) throw unreadable("The table of chunks is too short.");
  const width = isLarge ? 8 : 4;
  const bytes = Buffer.alloc(8 + count * width);
  bytes.writeUInt32BE(count, 4);
  for (let index = 0; index < count; index += 1) {
    const at = 8 + index * entry;
    const offset = moved(
      entry === 8 ? Number(payload.readBigUInt64BE(at)) : payload.readUInt32BE(at),
    );
    if (offset === undefined) return undefined;
    if (isLarge) bytes.writeBigUInt64BE(BigInt(offset), 8 + index * width);
    else bytes.writeUInt32BE(offset, 8 + index * width);
  }
  return writeBox(isLarge ? "co64" : "stco", bytes);
}
