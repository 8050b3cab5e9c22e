import { MediaRejected } from "#src/domain/media-rejected.ts";
import type { ByteSource } from "./byte-source.ts";
import { payloadOf, readBoxes, type Box, type BoxBudget } from "./mp4-box.ts";
import { readSampleRanges } from "./mp4-samples.ts";
import type { Mp4Track } from "./mp4-track.ts";
import type { BlankedRange } from "./video-layout.ts";

/** Types of MP4 metadata entries that only name the program that wrote the video, or contain only padding. */
const HARMLESS = new Set(["\u00a9too", "\u00a9enc", "\u00a9swr", "free", "skip"]);
/** `uuid` boxes that players need: spherical video (github.com/google/spatial-media, v1). */
const NEEDED_UUIDS = new Set(["ffcc826388554a938814587a02521fdd"]);

interface Parts {
  readonly source: ByteSource;
  readonly top: readonly Box[];
  readonly inMovie: readonly Box[];
  readonly tracks: readonly Mp4Track[];
  readonly budget: BoxBudget;
}

/**
 * Finds the ranges to blank so that an MP4 contains no data about a person, place or device. The `udta` and `meta`
 * boxes of the file, the movie and the tracks, `uuid` boxes such as XMP, and timed-metadata tracks become `free` boxes
 * of zeros. A box that only names the program stays, so that a video without metadata is delivered unchanged.
 */
export function findMp4Metadata(parts: Parts): readonly BlankedRange[] {
  const { source, top, inMovie, tracks, budget } = parts;
  const boxes = [...top, ...inMovie, ...tracks.flatMap((track) => track.boxes)];
  const personal = boxes.filter((box) => isPersonal(source, box, budget));
  const metadataTracks = tracks.filter(({ isMetadata }) => isMetadata);
  // A metadata box inside a metadata track needs no patch of its own, because the whole track is blanked.
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
    // A metadata list that cannot be parsed may contain personal data, so it is blanked.
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

/**
 * Returns the offset at which the boxes inside a metadata box start. In MP4 files a `meta` box begins with four bytes
 * of version and flags; in QuickTime files its `hdlr` box follows immediately.
 */
function listStart(source: ByteSource, box: Box): number {
  if (box.type !== "meta" || box.end - box.payload < 8) return box.payload;
  const isPlain = payloadOf(source, box, 8).toString("latin1", 4, 8) === "hdlr";
  return isPlain ? box.payload : box.payload + 4;
}

function blankBox({ start, payload, end }: Box): BlankedRange[] {
  // A long MP4 box has a 64-bit length between its type and its payload. The length is kept, so that the file stays
  // valid.
  return [
    { offset: start + 4, bytes: Buffer.from("free", "latin1"), zeros: 0 },
    { offset: payload, bytes: new Uint8Array(), zeros: end - payload },
  ];
}
