import { unreadable } from "#src/domain/media-rejected.ts";
import type { ByteSource } from "./video-layout.ts";

/** A box of an ISO base media file: its offset and the offsets of its payload and end. */
export interface Box {
  readonly type: string;
  readonly start: number;
  readonly payload: number;
  readonly end: number;
}

/** Reads boxes, at most `maxBoxes`, so that millions of empty ones cannot use up processor time. */
export class BoxReader {
  readonly source: ByteSource;
  #left: number;

  constructor(source: ByteSource, maxBoxes: number) {
    this.source = source;
    this.#left = maxBoxes;
  }

  get isSpent(): boolean {
    return this.#left < 0;
  }

  /** The boxes must fill the range exactly (ISO/IEC 14496-12, section 4.2). */
  boxes(range: { readonly payload: number; readonly end: number }): Box[] {
    const boxes: Box[] = [];
    let at = range.payload;
    while (at + 8 <= range.end) {
      this.#left -= 1;
      if (this.isSpent) throw unreadable("The video has too many boxes.");
      const box = this.#box(at, range.end);
      boxes.push(box);
      at = box.end;
    }
    // QuickTime ends some lists of boxes with four zero bytes, which are not a box.
    if (
      range.end - at >= 8 ||
      (at < range.end && this.source.read(at, range.end - at).some(Boolean))
    )
      throw unreadable("A box of the video is truncated.");
    return boxes;
  }

  /** A file whose payload is too short is rejected. */
  payload(box: Box, bytes: number, skip = 0): Buffer {
    if (box.payload + skip + bytes > box.end)
      throw unreadable(`The box ${nameOf(box)} is too short.`);
    return Buffer.from(this.source.read(box.payload + skip, bytes));
  }

  #box(start: number, limit: number): Box {
    const header = this.source.read(start, 16);
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
}

/** For `find` and `filter`. */
export function isType(type: string): (box: { readonly type: string }) => boolean {
  return (box) => box.type === type;
}

/** With printable characters only, for messages. */
export function nameOf({ type }: Pick<Box, "type">): string {
  return type.replace(/[^ -~]/g, "?");
}

export interface HeldBox {
  readonly type: string;
  readonly payload: Buffer;
}

const MAX_BOXES = 10_000;

export function writeBox(type: string, ...parts: readonly Uint8Array[]): Buffer {
  const payload = Buffer.concat(parts);
  const head = Buffer.alloc(8);
  head.writeUInt32BE(payload.length + 8);
  head.write(type, 4, "latin1");
  return Buffer.concat([head, payload]);
}

/**
 * The boxes that bytes in memory contain; none for no bytes.
 *
 * @throws MediaRejected
 */
export function heldBoxes(bytes: Buffer | undefined): readonly HeldBox[] {
  if (bytes === undefined) return [];
  const source: ByteSource = {
    bytes: bytes.length,
    read: (offset, length) => bytes.subarray(offset, offset + length),
  };
  const found = new BoxReader(source, MAX_BOXES).boxes({ payload: 0, end: bytes.length });
  return found.map(({ type, payload, end }) => ({ type, payload: bytes.subarray(payload, end) }));
}

export function findBox(boxes: readonly HeldBox[], type: string): HeldBox | undefined {
  return boxes.find(isType(type));
}

export function copyBox({ type, payload }: HeldBox): Buffer {
  return writeBox(type, payload);
}
