import { MediaRejected, unreadable, unsupportedType } from "#src/domain/media-rejected.ts";
import { type Element, ElementReader } from "./ebml.ts";
import {
  type BlankedRange,
  type ByteSource,
  MAX_DURATION_MS,
  toFps,
  type VideoLayout,
} from "./video-layout.ts";

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
  const reader = new ElementReader(source, MAX_ELEMENTS);
  const header = reader.element(0, source.bytes);
  if (header.id !== EBML || header.isUnknownSize) throw unreadable("The video has no EBML header.");
  const docType = reader.children(header).find(({ id }) => id === DOC_TYPE);
  if (reader.text(docType) !== "webm") {
    const message = "The video is a Matroska file, but not a WebM.";
    throw new MediaRejected({ code: "media_type_unsupported", message });
  }
  const segment = reader.element(header.end, source.bytes);
  if (segment.id !== SEGMENT) throw unreadable("The video has no segment.");
  if (segment.end !== source.bytes) throw unreadable("There are bytes after the end of the video.");
  const clusters = readClusters(reader, segment);
  if (clusters.count === 0) throw unreadable("The video has no frames.");
  return {
    ...readVideoTrack(reader, clusters),
    durationMs: readDuration(reader, clusters),
    blanks: findMetadata(reader, clusters),
  };
}

function readVideoTrack(
  reader: ElementReader,
  { others }: Clusters,
): Pick<VideoLayout, "width" | "height" | "facts"> {
  const entries = others
    .filter(({ id }) => id === TRACKS)
    .flatMap((element) => reader.children(element))
    .filter(({ id }) => id === TRACK_ENTRY)
    .map((entry) => reader.children(entry));
  const ofType = (type: number) =>
    entries.find((entry) => reader.unsigned(find(entry, TRACK_TYPE)) === type);
  const [video, audio] = [ofType(1), ofType(2)];
  if (video === undefined)
    throw audio === undefined
      ? unreadable("The video has no video track.")
      : unsupportedType("audio/webm");
  const frameNs = reader.unsigned(find(video, DEFAULT_DURATION)) ?? 0;
  return {
    ...readSize(reader, video),
    facts: {
      codec: readCodec(reader, video),
      profile: null,
      pixelFormat: null,
      fps: frameNs === 0 ? null : toFps(1e9 / frameNs),
      audioCodec: audio === undefined ? null : readCodec(reader, audio),
      fastStart: true,
      fragmented: false,
    },
  };
}

/** `vp9` for `V_VP9` and `h264` for `V_MPEG4/ISO/AVC` (RFC 9559, section 5.1.4.1.21). */
function readCodec(reader: ElementReader, track: readonly Element[]): string {
  const id = reader.text(find(track, CODEC_ID));
  return CODECS.get(id) ?? (id.replace(/^[AV]_/, "").toLowerCase() || "unknown");
}

function readSize(reader: ElementReader, track: readonly Element[]) {
  const inVideo = reader.children(find(track, VIDEO));
  const width = reader.unsigned(find(inVideo, PIXEL_WIDTH)) ?? 0;
  const height = reader.unsigned(find(inVideo, PIXEL_HEIGHT)) ?? 0;
  if (width < 1 || height < 1 || width > 65_535 || height > 65_535)
    throw unreadable("The video track has an invalid size.");

  return { width, height };
}

function readDuration(reader: ElementReader, clusters: Clusters): number {
  const inInfo = reader.children(find(clusters.others, INFO));
  const scale = reader.unsigned(find(inInfo, TIMESTAMP_SCALE)) ?? 1_000_000;
  if (scale === 0) throw unreadable("The video has a timescale of zero.");
  // Live recordings contain no duration.
  const ticks = reader.float(find(inInfo, DURATION)) ?? clusters.lastTimestamp();
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
function findMetadata(reader: ElementReader, { others }: Clusters): BlankedRange[] {
  const inInfo = others
    .filter(({ id }) => id === INFO)
    .map((info) => reader.children(info))
    .filter((children) => children.some(({ id }) => id === TITLE))
    // The checksum of a changed element is no longer valid.
    .flatMap((children) => children.filter(({ id }) => id === TITLE || id === CRC_32));
  const wholes = others.filter(
    (element) =>
      element.id === ATTACHMENTS || (element.id === TAGS && !areHarmless(reader, element)),
  );
  return [...inInfo, ...wholes].map(toVoid).sort((a, b) => a.offset - b.offset);
}

function areHarmless(reader: ElementReader, tags: Element): boolean {
  const inTags = reader.children(tags).filter(({ id }) => id === TAG);
  const simple = inTags
    .flatMap((tag) => reader.children(tag))
    .filter(({ id }) => id === SIMPLE_TAG);
  return simple.every((tag) => {
    const children = reader.children(tag);
    const name = reader.text(find(children, TAG_NAME));
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

const CLUSTER = 0x1f43b675;
const TIMESTAMP = 0xe7;
const SIMPLE_BLOCK = 0xa3;
const BLOCK_GROUP = 0xa0;
const BLOCK = 0xa1;
/** Direct children of a segment; each ends a cluster of unknown size. */
const SEGMENT_LEVEL = new Set([
  CLUSTER,
  INFO,
  TRACKS,
  TAGS,
  ATTACHMENTS,
  // SeekHead, Cues and Chapters
  0x114d9b74,
  0x1c53bb6b,
  0x1043a770,
]);
const VOID = 0xec;

interface Clusters {
  readonly count: number;
  readonly others: readonly Element[];
  /** The time of the latest frame in ticks. */
  readonly lastTimestamp: () => number;
}

/** The end of a cluster of unknown size is found by reading its blocks. */
function readClusters(reader: ElementReader, segment: Element): Clusters {
  const clusters: Element[] = [];
  const others: Element[] = [];
  let at = segment.payload;
  while (at < segment.end) {
    const element = reader.element(at, segment.end);
    const isCluster = element.id === CLUSTER;
    if (!isCluster && !isKnown(element))
      throw unreadable("The segment of the video contains an unknown element.");
    const end = element.isUnknownSize ? clusterEnd(reader, element) : element.end;
    (isCluster ? clusters : others).push({ ...element, end });
    at = end;
  }
  const lastTimestamp = () =>
    clusters.reduce((last, cluster) => Math.max(last, clusterTime(reader, cluster)), 0);
  return { count: clusters.length, others, lastTimestamp };
}

function isKnown({ id, isUnknownSize }: Element): boolean {
  return !isUnknownSize && (SEGMENT_LEVEL.has(id) || id === VOID || id === CRC_32);
}

function clusterEnd(reader: ElementReader, cluster: Element): number {
  let at = cluster.payload;
  while (at < cluster.end) {
    const child = reader.element(at, cluster.end);
    if (SEGMENT_LEVEL.has(child.id)) return at;
    if (child.isUnknownSize) throw unreadable("An element of the video has no size.");
    at = child.end;
  }
  return at;
}

function clusterTime(reader: ElementReader, cluster: Element): number {
  let time = 0;
  let last = 0;
  let at = cluster.payload;
  while (at < cluster.end) {
    const child = reader.element(at, cluster.end);
    if (child.id === TIMESTAMP) time = reader.unsigned(child) ?? 0;
    const isBlock = child.id === SIMPLE_BLOCK || child.id === BLOCK;
    if (isBlock) last = Math.max(last, blockTime(reader, child));
    // The block with the time is the first child inside a group.
    at = child.id === BLOCK_GROUP ? child.payload : child.end;
  }
  return time + last;
}

/** Ticks relative to the cluster: a signed 16-bit number after the track number. */
function blockTime(reader: ElementReader, block: Element): number {
  const head = reader.source.read(block.payload, Math.min(10, block.end - block.payload));
  const trackBytes = Math.clz32(head[0] ?? 0) - 23;
  return trackBytes + 2 <= head.length ? head.readInt16BE(trackBytes) : 0;
}
