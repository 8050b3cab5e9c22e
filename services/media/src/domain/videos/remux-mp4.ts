import { type Box, BoxReader, isType, writeBox } from "./mp4-box.ts";
import { writeIndex } from "./mp4-index.ts";
import type { ByteSource } from "./video-layout.ts";

export interface RemuxedMp4 {
  readonly head: Buffer;
  readonly ranges: readonly { readonly offset: number; readonly bytes: number }[];
  readonly bytes: number;
}

const MAX_BOXES = 100_000;
/** It is held in memory. An index of ten hours has about 15 MB. */
const MAX_INDEX_BYTES = 24_000_000;
const DATA_HEAD_BYTES = 16;
const MAX_32_BITS = 0xffff_ffff;

/**
 * Plans an MP4 with its index in front from an MP4 or QuickTime file: unchanged streams of the
 * first video and audio track, without metadata. Undefined when that needs encoding.
 *
 * @throws MediaRejected
 */
export function remuxMp4(source: ByteSource): RemuxedMp4 | undefined {
  const top = new BoxReader(source, MAX_BOXES).boxes({ payload: 0, end: source.bytes });
  const movie = top.find(isType("moov"));
  const data = top.filter(({ type, payload, end }) => type === "mdat" && end > payload);
  const isFragmented = top.some(isType("moof"));
  if (movie === undefined || data.length === 0 || isFragmented) return undefined;
  if (movie.end - movie.payload > MAX_INDEX_BYTES) return undefined;
  const index = Buffer.from(source.read(movie.payload, movie.end - movie.payload));
  const brand = readBrand(source, top);
  const bytes = data.reduce((sum, { payload, end }) => sum + end - payload, 0);
  const isLarge = bytes + 3 * index.length > MAX_32_BITS;
  const write = (dataAt: number) =>
    writeIndex(index, { ...brand, isLarge, moved: createMove(data, dataAt) });
  // The length of the index does not depend on the offsets in it.
  const measured = write(0);
  if (measured === undefined) return undefined;
  const dataAt = brand.type.length + measured.length + DATA_HEAD_BYTES;
  const written = write(dataAt);
  if (written === undefined) return undefined;
  return {
    head: Buffer.concat([brand.type, written, dataHead(bytes)]),
    ranges: data.map(({ payload, end }) => ({ offset: payload, bytes: end - payload })),
    bytes: dataAt + bytes,
  };
}

/** That of an MP4 stays; a QuickTime file gets one for H.264 or HEVC with AAC. */
function readBrand(source: ByteSource, top: readonly Box[]) {
  const [first] = top;
  if (first?.type === "ftyp" && first.end - first.start <= 4096) {
    const type = Buffer.from(source.read(first.start, first.end - first.start));
    if (type.toString("latin1", 8, 12) !== "qt  ") return { isQuickTime: false, type };
  }
  const brands = Buffer.from("isom\0\0\x02\0isomiso2mp41", "latin1");
  return { isQuickTime: true, type: writeBox("ftyp", brands) };
}

function dataHead(bytes: number): Buffer {
  const head = Buffer.alloc(DATA_HEAD_BYTES);
  head.writeUInt32BE(1);
  head.write("mdat", 4, "latin1");
  head.writeBigUInt64BE(BigInt(bytes + DATA_HEAD_BYTES), 8);
  return head;
}

/** The new offset of a chunk, when the data boxes follow each other from `dataAt` on. */
function createMove(data: readonly Box[], dataAt: number): (offset: number) => number | undefined {
  let start = dataAt;
  const moves = data.map(({ payload, end }) => {
    const move = { payload, end, by: start - payload };
    start += end - payload;
    return move;
  });
  return (offset) => {
    const move = moves.find(({ payload, end }) => offset >= payload && offset < end);
    return move && offset + move.by;
  };
}
