import { unreadable } from "#src/domain/media-rejected.ts";
import { type Box, type BoxReader, isType, nameOf } from "./mp4-box.ts";

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
export function readMp4Track(reader: BoxReader, box: Box, isFragmented: boolean): Mp4Track {
  const boxes = reader.boxes(box);
  const inMedia = reader.boxes(need(boxes, "mdia"));
  const handler = reader.payload(need(inMedia, "hdlr"), 12).toString("latin1", 8, 12);
  const times = readTimes(reader, need(inMedia, "mdhd"));
  if (times.timescale === 0) throw unreadable("A track of the video has a timescale of zero.");
  const inInformation = reader.boxes(need(inMedia, "minf"));
  const sampleBoxes = reader.boxes(need(inInformation, "stbl"));
  const tables = new Map(sampleBoxes.map((table) => [table.type, table]));
  for (const table of sampleBoxes) checkTable(reader, table);
  const isVideo = handler === "vide";
  if (isVideo && !isFragmented) checkHasSamples(reader, tables);
  return {
    box,
    ...times,
    ...readHeader(reader, need(boxes, "tkhd"), isVideo ? tables.get("stsd") : undefined),
    isVideo,
    isAudio: handler === "soun",
    isMetadata: handler === "meta",
    boxes,
    tables,
  };
}

function need(boxes: readonly Box[], type: string): Box {
  const box = boxes.find(isType(type));
  if (box === undefined) throw unreadable(`A track of the video has no ${type} box.`);
  return box;
}

function checkTable(reader: BoxReader, box: Box): void {
  const shape = TABLES[box.type];
  if (shape === undefined) return;
  const head = reader.payload(box, shape.countAt + 4);
  const isUniform = box.type === "stsz" && head.readUInt32BE(4) !== 0;
  const needed = isUniform ? 0 : head.readUInt32BE(shape.countAt) * shape.entry;
  if (box.payload + shape.countAt + 4 + needed > box.end)
    throw unreadable(`The table ${nameOf(box)} of the video is shorter than its entry count.`);
}

function checkHasSamples(reader: BoxReader, tables: ReadonlyMap<string, Box>): void {
  const sizes = tables.get("stsz") ?? tables.get("stz2");
  const chunks = tables.get("stco") ?? tables.get("co64");
  const count = sizes === undefined ? 0 : reader.payload(sizes, 12).readUInt32BE(8);
  if (count === 0 || chunks === undefined) throw unreadable("The video track has no frames.");
  for (const offset of chunkOffsets(reader, chunks))
    if (offset >= reader.source.bytes)
      throw unreadable("The video is truncated: frames are missing.");
}

/** From a `stco` or `co64` box. */
export function* chunkOffsets(reader: BoxReader, box: Box): Generator<number> {
  const entry = box.type === "co64" ? 8 : 4;
  const end = box.payload + 8 + entry * reader.payload(box, 8).readUInt32BE(4);
  const step = entry * 8192;
  for (let at = box.payload + 8; at < end; at += step) {
    const part = Buffer.from(reader.source.read(at, Math.min(step, end - at)));
    for (let offset = 0; offset + entry <= part.length; offset += entry)
      yield entry === 8 ? Number(part.readBigUInt64BE(offset)) : part.readUInt32BE(offset);
  }
}

function readHeader(reader: BoxReader, header: Box, description: Box | undefined) {
  const isLong = reader.payload(header, 1)[0] === 1;
  const payload = reader.payload(header, isLong ? 96 : 84);
  const shift = isLong ? 12 : 0;
  const id = payload.readUInt32BE(isLong ? 20 : 12);
  if (description === undefined) return { id, width: 0, height: 0 };
  return { id, ...rotate(payload.subarray(40 + shift), readFrameSize(reader, description)) };
}

/** The matrix {a b u, c d v, x y w} is a quarter rotation when b and c outweigh a and d. */
function rotate(matrix: Buffer, { width, height }: { width: number; height: number }) {
  const isRotated =
    Math.abs(matrix.readInt32BE(4)) > Math.abs(matrix.readInt32BE(0)) &&
    Math.abs(matrix.readInt32BE(12)) > Math.abs(matrix.readInt32BE(16));
  return isRotated ? { width: height, height: width } : { width, height };
}

function readFrameSize(reader: BoxReader, description: Box): { width: number; height: number } {
  // Width and height follow 24 bytes after the header of the first sample entry.
  const payload = reader.payload(description, 44);
  const count = payload.readUInt32BE(4);
  const entryBytes = payload.readUInt32BE(8);
  if (count === 0 || count > 64 || entryBytes < 36)
    throw unreadable("The sample descriptions of the video are invalid.");

  const size = { width: payload.readUInt16BE(40), height: payload.readUInt16BE(42) };
  if (size.width === 0 || size.height === 0) throw unreadable("The video track has no size.");
  return size;
}

const UNKNOWN_32 = 0xffff_ffff;

/** An unknown duration is 0. */
export function readTimes(reader: BoxReader, box: Box): { timescale: number; duration: number } {
  const isLong = reader.payload(box, 1)[0] === 1;
  const header = reader.payload(box, isLong ? 32 : 20);
  if (!isLong) {
    const duration = header.readUInt32BE(16);
    return { timescale: header.readUInt32BE(12), duration: duration === UNKNOWN_32 ? 0 : duration };
  }
  const duration = header.readBigUInt64BE(24);
  const isUnknown = duration === 0xffff_ffff_ffff_ffffn;
  return { timescale: header.readUInt32BE(20), duration: isUnknown ? 0 : Number(duration) };
}
