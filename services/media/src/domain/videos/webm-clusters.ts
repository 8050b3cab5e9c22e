import { unreadable } from "#src/domain/media-rejected.ts";
import type { ByteSource } from "./byte-source.ts";
import { readElement, readUnsigned, type Element, type ElementBudget } from "./ebml.ts";

const CLUSTER = 0x1f43b675;
const TIMESTAMP = 0xe7;
const SIMPLE_BLOCK = 0xa3;
const BLOCK_GROUP = 0xa0;
const BLOCK = 0xa1;
/** Direct children of a segment; each ends a cluster of unknown size. */
const SEGMENT_LEVEL = new Set([
  CLUSTER,
  0x114d9b74,
  0x1549a966,
  0x1654ae6b,
  0x1c53bb6b,
  0x1941a469,
  0x1043a770,
  0x1254c367,
]);
const VOID = 0xec;
const CRC_32 = 0xbf;

export interface Clusters {
  readonly count: number;
  readonly others: readonly Element[];
  /** The time of the latest frame in ticks. */
  readonly lastTimestamp: () => number;
}

/** The end of a cluster of unknown size is found by reading its blocks. */
export function readClusters(
  source: ByteSource,
  segment: Element,
  budget: ElementBudget,
): Clusters {
  const clusters: Element[] = [];
  const others: Element[] = [];
  let at = segment.payload;
  while (at < segment.end) {
    const element = readElement(source, at, segment.end, budget);
    const isCluster = element.id === CLUSTER;
    if (!isCluster && !isKnown(element))
      throw unreadable("The segment of the video contains an unknown element.");
    const end = element.isUnknownSize ? clusterEnd(source, element, budget) : element.end;
    (isCluster ? clusters : others).push({ ...element, end });
    at = end;
  }
  const lastTimestamp = () =>
    clusters.reduce((last, cluster) => Math.max(last, clusterTime(source, cluster, budget)), 0);
  return { count: clusters.length, others, lastTimestamp };
}

function isKnown({ id, isUnknownSize }: Element): boolean {
  return !isUnknownSize && (SEGMENT_LEVEL.has(id) || id === VOID || id === CRC_32);
}

function clusterEnd(source: ByteSource, cluster: Element, budget: ElementBudget): number {
  let at = cluster.payload;
  while (at < cluster.end) {
    const child = readElement(source, at, cluster.end, budget);
    if (SEGMENT_LEVEL.has(child.id)) return at;
    if (child.isUnknownSize) throw unreadable("An element of the video has no size.");
    at = child.end;
  }
  return at;
}

function clusterTime(source: ByteSource, cluster: Element, budget: ElementBudget): number {
  let time = 0;
  let last = 0;
  let at = cluster.payload;
  while (at < cluster.end) {
    const child = readElement(source, at, cluster.end, budget);
    if (child.id === TIMESTAMP) time = readUnsigned(source, child) ?? 0;
    const isBlock = child.id === SIMPLE_BLOCK || child.id === BLOCK;
    if (isBlock) last = Math.max(last, blockTime(source, child));
    // The block with the time is the first child inside a group.
    at = child.id === BLOCK_GROUP ? child.payload : child.end;
  }
  return time + last;
}

/** Ticks relative to the cluster: a signed 16-bit number after the track number. */
function blockTime(source: ByteSource, block: Element): number {
  const head = source.read(block.payload, Math.min(10, block.end - block.payload));
  const trackBytes = Math.clz32(head[0] ?? 0) - 23;
  return trackBytes + 2 <= head.length ? head.readInt16BE(trackBytes) : 0;
}
