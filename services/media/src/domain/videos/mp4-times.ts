import type { ByteSource } from "./byte-source.ts";
import { payloadOf, type Box } from "./mp4-box.ts";

const UNKNOWN_32 = 0xffff_ffff;

/** An unknown duration is 0. */
export function readTimes(source: ByteSource, box: Box): { timescale: number; duration: number } {
  const isLong = payloadOf(source, box, 1)[0] === 1;
  const header = payloadOf(source, box, isLong ? 32 : 20);
  if (!isLong) {
    const duration = header.readUInt32BE(16);
    return { timescale: header.readUInt32BE(12), duration: duration === UNKNOWN_32 ? 0 : duration };
  }
  const duration = header.readBigUInt64BE(24);
  const isUnknown = duration === 0xffff_ffff_ffff_ffffn;
  return { timescale: header.readUInt32BE(20), duration: isUnknown ? 0 : Number(duration) };
}
