import { copyBox, findBox, heldBoxes, writeBox, type HeldBox } from "./mp4-written.ts";

const VIDEO_FIELDS = 78;
const AUDIO_FIELDS = 28;
/** Bytes that versions 1 and 2 of QuickTime's sound description add to the fields of an audio sample entry. */
const QUICKTIME_EXTRA: readonly number[] = [0, 16, 36];
/** Boxes of a video sample entry that MP4 files have too. */
const VIDEO_BOXES = new Set(
  "avcC hvcC hvcE lhvC dvcC dvvC dvwC pasp clap colr btrt mdcv clli".split(" "),
);
const VIDEO_TYPES = new Set(["avc1", "avc3", "hvc1", "hev1"]);

/**
 * Makes the `stsd` box of an MP4 from that of a QuickTime file.
 *
 * @returns undefined when a sample entry is not H.264, HEVC or AAC, which an MP4 contains in the same form.
 */
export function toMp4Description(description: HeldBox, isVideo: boolean): Buffer | undefined {
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

/** QuickTime describes colours as `nclc`, MP4 as `nclx` with one byte more, which says that the range is limited. */
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
