import type { ByteSource } from "./byte-source.ts";
import { unreadable } from "./media-rejected.ts";

/** A box of an ISO base media file: where it stands and where its payload begins. */
export interface Box {
  readonly type: string;
  readonly start: number;
  readonly payload: number;
  readonly end: number;
}

/** Counts boxes over a whole file, so that millions of empty ones cannot keep us busy. */
export interface BoxBudget {
  left: number;
}

/** The boxes from `start` to `end`, which must fill it exactly (ISO/IEC 14496-12, section 4.2). */
export function readBoxes(
  source: ByteSource,
  range: { readonly payload: number; readonly end: number },
  budget: BoxBudget,
): Box[] {
  const boxes: Box[] = [];
  let at = range.payload;
  while (at + 8 <= range.end) {
    budget.left -= 1;
    if (budget.left < 0) throw unreadable("The film has too many boxes.");
    const box = readBox(source, at, range.end);
    boxes.push(box);
    at = box.end;
  }
  // QuickTime ends some lists with four zeros.
  if (range.end - at >= 8 || (at < range.end && source.read(at, range.end - at).some(Boolean))) {
    throw unreadable("A box of the film is cut off.");
  }
  return boxes;
}

function readBox(source: ByteSource, start: number, limit: number): Box {
  const header = source.read(start, 16);
  if (header.length < 8) throw unreadable("A box of the film is cut off.");
  const type = header.toString("latin1", 4, 8);
  const size = header.readUInt32BE(0);
  let bytes = size;
  if (size === 0) bytes = limit - start;
  if (size === 1) bytes = header.length < 16 ? 0 : Number(header.readBigUInt64BE(8));
  const payload = start + (size === 1 ? 16 : 8);
  if (start + bytes > limit) throw unreadable("A box of the film reaches beyond its end.");
  if (start + bytes < payload) throw unreadable("A box of the film is shorter than its header.");
  return { type, start, payload, end: start + bytes };
}

/** The payload of a box from `skip` on, which must have `bytes` bytes there. */
export function payloadOf(source: ByteSource, box: Box, bytes: number, skip = 0): Buffer {
  if (box.payload + skip + bytes > box.end)
    throw unreadable(`The box ${nameOf(box)} is too short.`);
  return Buffer.from(source.read(box.payload + skip, bytes));
}

/** A type for a message: only what can be printed. */
export function nameOf({ type }: Pick<Box, "type">): string {
  return type.replace(/[^ -~]/g, "?");
}
