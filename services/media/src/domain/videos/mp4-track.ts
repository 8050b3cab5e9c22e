import { unreadable } from "#src/domain/media-rejected.ts";
import type { ByteSource } from "./byte-source.ts";
import { nameOf, payloadOf, readBoxes, type Box, type BoxBudget } from "./mp4-box.ts";
import { readTimes } from "./mp4-times.ts";

/** Bytes per entry of a sample table, and the offset of its entry count. */
const TABLES: Readonly<Record<string, { readonly entry: number; readonly countAt: number }>> = {
  stts: { entry: 8, countAt: 4 },
  ctts: { entry: 8, countAt: 4 },
  stsc: { entry: 12, countAt: 4 },
  stss: { entry: 4, countAt: 4 },
  stco: { entry: 4, countAt: 4 },
  co64: { entry: 8, countAt: 4 },
  stsz: { entry: 4, countAt: 8 },
};

export interface Mp4Track {
  readonly box: Box;
  readonly id: number;
  readonly isVideo: boolean;
  readonly isAudio: boolean;
  readonly isMetadata: boolean;
  readonly width: number;
  readonly height: number;
  readonly timescale: number;
  readonly duration: number;
  readonly boxes: readonly Box[];
  readonly tables: ReadonlyMap<string, Box>;
}

/** The lengths of the sample tables are checked, but the tables are not loaded. */
export function readMp4Track(
  source: ByteSource,
  box: Box,
  budget: BoxBudget,
  isFragmented: boolean,
): Mp4Track {
  const boxes = readBoxes(source, box, budget);
  const inMedia = readBoxes(source, need(boxes, "mdia"), budget);
  const handler = payloadOf(source, need(inMedia, "hdlr"), 12).toString("latin1", 8, 12);
  const times = readTimes(source, need(inMedia, "mdhd"));
  if (times.timescale === 0) throw unreadable("A track of the video has a timescale of zero.");
  const inInformation = readBoxes(source, need(inMedia, "minf"), budget);
  const sampleBoxes = readBoxes(source, need(inInformation, "stbl"), budget);
  const tables = new Map(sampleBoxes.map((table) => [table.type, table]));
  for (const table of sampleBoxes) checkTable(source, table);
  const isVideo = handler === "vide";
  if (isVideo && !isFragmented) checkHasSamples(source, tables);
  return {
    box,
    ...times,
    ...readHeader(source, need(boxes, "tkhd"), isVideo ? tables.get("stsd") : undefined),
    isVideo,
    isAudio: handler === "soun",
    isMetadata: handler === "meta",
    boxes,
    tables,
  };
}

function need(boxes: readonly Box[], type: string): Box {
  const box = boxes.find((candidate) => candidate.type === type);
  if (box === undefined) throw unreadable(`A track of the video has no ${type} box.`);
  return box;
}

function checkTable(source: ByteSource, box: Box): void {
  const shape = TABLES[box.type];
  if (shape === undefined) return;
  const head = payloadOf(source, box, shape.countAt + 4);
  const isUniform = box.type === "stsz" && head.readUInt32BE(4) !== 0;
  const needed = isUniform ? 0 : head.readUInt32BE(shape.countAt) * shape.entry;
  if (box.payload + shape.countAt + 4 + needed > box.end)
    throw unreadable(`The table ${nameOf(box)} of the video is shorter than its entry count.`);
}

function checkHasSamples(source: ByteSource, tables: ReadonlyMap<string, Box>): void {
  const sizes = tables.get("stsz") ?? tables.get("stz2");
  const chunks = tables.get("stco") ?? tables.get("co64");
  const count = sizes === undefined ? 0 : payloadOf(source, sizes, 12).readUInt32BE(8);
  if (count === 0 || chunks === undefined) throw unreadable("The video track has no frames.");
  for (const offset of chunkOffsets(source, chunks))
    if (offset >= source.bytes) throw unreadable("The video is truncated: frames are missing.");
}

/** From a `stco` or `co64` box. */
export function* chunkOffsets(source: ByteSource, box: Box): Generator<number> {
  const entry = box.type === "co64" ? 8 : 4;
  const end = box.payload + 8 + entry * payloadOf(source, box, 8).readUInt32BE(4);
  const step = entry * 8192;
  for (let at = box.payload + 8; at < end; at += step) {
    const part = Buffer.from(source.read(at, Math.min(step, end - at)));
    for (let offset = 0; offset + entry <= part.length; offset += entry)
      yield entry === 8 ? Number(part.readBigUInt64BE(offset)) : part.readUInt32BE(offset);
  }
}

function readHeader(source: ByteSource, header: Box, description: Box | undefined) {
  const isLong = payloadOf(source, header, 1)[0] === 1;
  const payload = payloadOf(source, header, isLong ? 96 : 84);
  const shift = isLong ? 12 : 0;
  const id = payload.readUInt32BE(isLong ? 20 : 12);
  if (description === undefined) return { id, width: 0, height: 0 };
  return { id, ...rotate(payload.subarray(40 + shift), readFrameSize(source, description)) };
}

/** The matrix {a b u, c d v, x y w} is a quarter rotation when b and c outweigh a and d. */
function rotate(matrix: Buffer, { width, height }: { width: number; height: number }) {
  const isRotated =
    Math.abs(matrix.readInt32BE(4)) > Math.abs(matrix.readInt32BE(0)) &&
    Math.abs(matrix.readInt32BE(12)) > Math.abs(matrix.readInt32BE(16));
  return isRotated ? { width: height, height: width } : { width, height };
}

function readFrameSize(source: ByteSource, description: Box): { width: number; height: number } {
  // Width and height follow 24 bytes after the header of the first sample entry.
  const payload = payloadOf(source, description, 44);
  const count = payload.readUInt32BE(4);
  const entryBytes = payload.readUInt32BE(8);
  if (count === 0 || count > 64 || entryBytes < 36)
    throw unreadable("The sample descriptions of the video are invalid.");

  const size = { width: payload.readUInt16BE(40), height: payload.readUInt16BE(42) };
  if (size.width === 0 || size.height === 0) throw unreadable("The video track has no size.");
  return size;
}
