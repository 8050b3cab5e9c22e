import { unreadable } from "#src/domain/media-rejected.ts";
import type { ByteSource } from "./byte-source.ts";

export interface Box {
  readonly type: string;
  readonly start: number;
  readonly payload: number;
  readonly end: number;
}

/** Boxes that may still be read, so that millions of empty ones cannot use up processor time. */
export interface BoxBudget {
  left: number;
}

/** The boxes must fill the range exactly (ISO/IEC 14496-12, section 4.2). */
export function readBoxes(
  source: ByteSource,
  range: { readonly payload: number; readonly end: number },
  budget: BoxBudget,
): Box[] {
  const boxes: Box[] = [];
  let at = range.payload;
  while (at + 8 <= range.end) {
    budget.left -= 1;
    if (budget.left < 0) throw unreadable("The video has too many boxes.");
    const box = readBox(source, at, range.end);
    boxes.push(box);
    at = box.end;
  }
  // QuickTime ends some lists of boxes with four zero bytes, which are not a box.
  if (range.end - at >= 8 || (at < range.end && source.read(at, range.end - at).some(Boolean)))
    throw unreadable("A box of the video is truncated.");

  return boxes;
}

function readBox(source: ByteSource, start: number, limit: number): Box {
  const header = source.read(start, 16);
  if (header.length < 8) throw unreadable("A box of the video is truncated.");
  const type = header.toString("latin1", 4, 8);
  const size = header.readUInt32BE(0);
  let bytes = size;
  if (size === 0) bytes = limit - start;
  if (size === 1) bytes = header.length < 16 ? 0 : Number(header.readBigUInt64BE(8));
  const payload = start + (size === 1 ? 16 : 8);
  if (start + bytes > limit) throw unreadable("A box of the video extends beyond its parent.");
  if (start + bytes < payload) throw unreadable("A box of the video is shorter than its header.");
  return { type, start, payload, end: start + bytes };
}

/** A file whose payload is too short is rejected. */
export function payloadOf(source: ByteSource, box: Box, bytes: number, skip = 0): Buffer {
  if (box.payload + skip + bytes > box.end)
    throw unreadable(`The box ${nameOf(box)} is too short.`);
  return Buffer.from(source.read(box.payload + skip, bytes));
}

/** With printable characters only, for messages. */
export function nameOf({ type }: Pick<Box, "type">): string {
  return type.replace(/[^ -~]/g, "?");
}
