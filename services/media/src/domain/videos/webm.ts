import { MediaRejected, unreadable, unsupportedType } from "#src/domain/media-rejected.ts";
import type { ByteSource } from "./byte-source.ts";
import {
  readChildren,
  readElement,
  readFloat,
  readText,
  readUnsigned,
  type Element,
  type ElementBudget,
} from "./ebml.ts";
import { toFps } from "./video-facts.ts";
import { MAX_DURATION_MS, type BlankedRange, type VideoLayout } from "./video-layout.ts";
import { readClusters, type Clusters } from "./webm-clusters.ts";

/**
 * Enough for a live recording of four hours, in which each block is an element; reading as many
 * takes under a second.
 */
const MAX_ELEMENTS = 2_000_000;
const EBML = 0x1a45dfa3;
const DOC_TYPE = 0x4282;
const SEGMENT = 0x18538067;
const INFO = 0x1549a966;
const TIMESTAMP_SCALE = 0x2ad7b1;
const DURATION = 0x4489;
const TITLE = 0x7ba9;
const TRACKS = 0x1654ae6b;
const TRACK_ENTRY = 0xae;
const TRACK_TYPE = 0x83;
const CODEC_ID = 0x86;
const DEFAULT_DURATION = 0x23e383;
const CODECS: ReadonlyMap<string, string> = new Map([
  ["V_MPEG4/ISO/AVC", "h264"],
  ["V_MPEGH/ISO/HEVC", "hevc"],
]);
const VIDEO = 0xe0;
const PIXEL_WIDTH = 0xb0;
const PIXEL_HEIGHT = 0xba;
const TAGS = 0x1254c367;
const TAG = 0x7373;
const SIMPLE_TAG = 0x67c8;
const TAG_NAME = 0x45a3;
const ATTACHMENTS = 0x1941a469;
const CRC_32 = 0xbf;
const HARMLESS_TAGS = new Set(["ENCODER", "DURATION", "ENCODER_OPTIONS"]);

/** RFC 9559; webmproject.org/docs/container. Other Matroska files are rejected. */
export function readWebm(source: ByteSource): VideoLayout {
  const budget: ElementBudget = { left: MAX_ELEMENTS };
  const header = readElement(source, 0, source.bytes, budget);
  if (header.id !== EBML || header.isUnknownSize) throw unreadable("The video has no EBML header.");
  const docType = readChildren(source, header, budget).find(({ id }) => id === DOC_TYPE);
  if (readText(source, docType) !== "webm") {
    const message = "The video is a Matroska file, but not a WebM.";
    throw new MediaRejected({ code: "media_type_unsupported", message });
  }
  const segment = readElement(source, header.end, source.bytes, budget);
  if (segment.id !== SEGMENT) throw unreadable("The video has no segment.");
  if (segment.end !== source.bytes) throw unreadable("There are bytes after the end of the video.");
  const clusters = readClusters(source, segment, budget);
  if (clusters.count === 0) throw unreadable("The video has no frames.");
  return {
    ...readVideoTrack(source, clusters, budget),
    durationMs: readDuration(source, clusters, budget),
    blanks: findMetadata(source, clusters, budget),
  };
}

function readVideoTrack(
  source: ByteSource,
  { others }: Clusters,
  budget: ElementBudget,
): Pick<VideoLayout, "width" | "height" | "facts"> {
  const entries = others
    .filter(({ id }) => id === TRACKS)
    .flatMap((element) => readChildren(source, element, budget))
    .filter(({ id }) => id === TRACK_ENTRY)
    .map((entry) => readChildren(source, entry, budget));
  const ofType = (type: number) =>
    entries.find((entry) => readUnsigned(source, find(entry, TRACK_TYPE)) === type);
  const [video, audio] = [ofType(1), ofType(2)];
  if (video === undefined)
    throw audio === undefined
      ? unreadable("The video has no video track.")
      : unsupportedType("audio/webm");
  const frameNs = readUnsigned(source, find(video, DEFAULT_DURATION)) ?? 0;
  return {
    ...readSize(source, video, budget),
    facts: {
      codec: readCodec(source, video),
      profile: null,
      pixelFormat: null,
      fps: frameNs === 0 ? null : toFps(1e9 / frameNs),
      audioCodec: audio === undefined ? null : readCodec(source, audio),
      fastStart: true,
      fragmented: false,
    },
  };
}

/** `vp9` for `V_VP9` and `h264` for `V_MPEG4/ISO/AVC` (RFC 9559, section 5.1.4.1.21). */
function readCodec(source: ByteSource, track: readonly Element[]): string {
  const id = readText(source, find(track, CODEC_ID));
  return CODECS.get(id) ?? (id.replace(/^[AV]_/, "").toLowerCase() || "unknown");
}

function readSize(source: ByteSource, track: readonly Element[], budget: ElementBudget) {
  const video = find(track, VIDEO);
  const inVideo = video === undefined ? [] : readChildren(source, video, budget);
  const width = readUnsigned(source, find(inVideo, PIXEL_WIDTH)) ?? 0;
  const height = readUnsigned(source, find(inVideo, PIXEL_HEIGHT)) ?? 0;
  if (width < 1 || height < 1 || width > 65_535 || height > 65_535)
    throw unreadable("The video track has an invalid size.");

  return { width, height };
}

function readDuration(source: ByteSource, clusters: Clusters, budget: ElementBudget): number {
  const info = find(clusters.others, INFO);
  const inInfo = info === undefined ? [] : readChildren(source, info, budget);
  const scale = readUnsigned(source, find(inInfo, TIMESTAMP_SCALE)) ?? 1_000_000;
  if (scale === 0) throw unreadable("The video has a timescale of zero.");
  // Live recordings contain no duration.
  const ticks = readFloat(source, find(inInfo, DURATION)) ?? clusters.lastTimestamp();
  const durationMs = Math.round((ticks * scale) / 1_000_000);
  if (!(durationMs <= MAX_DURATION_MS))
    throw unreadable("The duration of the video is over 24 hours, or not a number.");

  if (durationMs < 1) throw unreadable("The video claims a duration of zero.");
  return durationMs;
}

function find(elements: readonly Element[], id: number): Element | undefined {
  return elements.find((element) => element.id === id);
}

/** Tags other than the encoder's, attachments and the title become `Void` elements. */
function findMetadata(
  source: ByteSource,
  { others }: Clusters,
  budget: ElementBudget,
): BlankedRange[] {
  const inInfo = others
    .filter(({ id }) => id === INFO)
    .map((info) => readChildren(source, info, budget))
    .filter((children) => children.some(({ id }) => id === TITLE))
    // The checksum of a changed element is no longer valid.
    .flatMap((children) => children.filter(({ id }) => id === TITLE || id === CRC_32));
  const wholes = others.filter(
    (element) =>
      element.id === ATTACHMENTS || (element.id === TAGS && !areHarmless(source, element, budget)),
  );
  return [...inInfo, ...wholes].map(toVoid).sort((a, b) => a.offset - b.offset);
}

function areHarmless(source: ByteSource, tags: Element, budget: ElementBudget): boolean {
  const inTags = readChildren(source, tags, budget).filter(({ id }) => id === TAG);
  const simple = inTags
    .flatMap((tag) => readChildren(source, tag, budget))
    .filter(({ id }) => id === SIMPLE_TAG);
  return simple.every((tag) => {
    const children = readChildren(source, tag, budget);
    const name = readText(source, find(children, TAG_NAME));
    return HARMLESS_TAGS.has(name) && find(children, SIMPLE_TAG) === undefined;
  });
}

/** One byte of identifier, one or eight bytes of size, then zeros. */
function toVoid({ start, end }: Element): BlankedRange {
  const bytes = end - start;
  const head = Buffer.alloc(bytes < 128 ? 2 : 9);
  head[0] = 0xec;
  if (head.length === 2) head[1] = 0x80 | (bytes - 2);
  else head.writeBigUInt64BE((1n << 56n) | BigInt(bytes - 9), 1);
  return { offset: start, bytes: head, zeros: bytes - head.length };
}
