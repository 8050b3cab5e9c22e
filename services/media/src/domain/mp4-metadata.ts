import { payloadOf, readBoxes, type Box, type BoxBudget } from "./box.ts";
import type { ByteSource } from "./byte-source.ts";
import type { Blank } from "./film.ts";
import { MediaRejected } from "./media-rejected.ts";
import { readSampleRanges } from "./mp4-samples.ts";
import type { Mp4Track } from "./mp4-track.ts";

/** Entries that only name the program that wrote the film. */
const HARMLESS = new Set(["\u00a9too", "\u00a9enc", "\u00a9swr", "free", "skip"]);
/** `uuid` boxes that say how the picture is shown: spherical video (github.com/google/spatial-media, v1). */
const NEEDED_UUIDS = new Set(["ffcc826388554a938814587a02521fdd"]);

interface Parts {
  readonly source: ByteSource;
  readonly top: readonly Box[];
  readonly inMovie: readonly Box[];
  readonly tracks: readonly Mp4Track[];
  readonly budget: BoxBudget;
}

/**
 * What must be written over a film so that it says nothing of person, place and device: `udta` and `meta` boxes of the
 * file, the movie and the tracks, `uuid` boxes (XMP is one) and tracks of timed metadata become `free` boxes of zeros.
 * A box that only names the program that wrote it stays, so that plain films go out byte for byte.
 */
export function findMp4Metadata(parts: Parts): readonly Blank[] {
  const { source, top, inMovie, tracks, budget } = parts;
  const boxes = [...top, ...inMovie, ...tracks.flatMap((track) => track.boxes)];
  const personal = boxes.filter((box) => isPersonal(source, box, budget));
  const metadataTracks = tracks.filter(({ isMetadata }) => isMetadata);
  // A box inside a track that goes is gone with it.
  const alone = personal.filter(
    ({ start }) => !metadataTracks.some(({ box }) => box.start < start && start < box.end),
  );
  const blanks = [...alone, ...metadataTracks.map(({ box }) => box)].flatMap(blankBox);
  for (const track of metadataTracks) {
    for (const { offset, bytes } of readSampleRanges(source, track)) {
      blanks.push({ offset, bytes: new Uint8Array(), zeros: bytes });
    }
  }
  return blanks.sort((a, b) => a.offset - b.offset);
}

function isPersonal(source: ByteSource, box: Box, budget: BoxBudget): boolean {
  if (box.type === "uuid") {
    return !NEEDED_UUIDS.has(payloadOf(source, box, 16).toString("hex"));
  }
  if (box.type !== "udta" && box.type !== "meta") return false;
  try {
    return !isHarmless(source, box, budget, 0);
  } catch (error) {
    // A list that cannot be read may hold anything.
    if (error instanceof MediaRejected && budget.left >= 0) return true;
    throw error;
  }
}

function isHarmless(source: ByteSource, box: Box, budget: BoxBudget, depth: number): boolean {
  return readBoxes(source, { payload: listStart(source, box), end: box.end }, budget).every(
    (entry) => {
      if (HARMLESS.has(entry.type) || entry.type === "hdlr") return true;
      const isList = entry.type === "meta" || entry.type === "ilst";
      return isList && depth < 3 && isHarmless(source, entry, budget, depth + 1);
    },
  );
}

/** `meta` is a full box with version and flags in MP4, and none in QuickTime, where `hdlr` follows at once. */
function listStart(source: ByteSource, box: Box): number {
  if (box.type !== "meta" || box.end - box.payload < 8) return box.payload;
  const isPlain = payloadOf(source, box, 8).toString("latin1", 4, 8) === "hdlr";
  return isPlain ? box.payload : box.payload + 4;
}

function blankBox({ start, payload, end }: Box): Blank[] {
  // The length of a long box stands between its type and its payload, and stays.
  return [
    { offset: start + 4, bytes: Buffer.from("free", "latin1"), zeros: 0 },
    { offset: payload, bytes: new Uint8Array(), zeros: end - payload },
  ];
}
