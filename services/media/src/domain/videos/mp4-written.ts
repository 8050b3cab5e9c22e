import type { ByteSource } from "./byte-source.ts";
import { readBoxes, type Box } from "./mp4-box.ts";

/** A box of the index of a video, in memory. */
export interface HeldBox {
  readonly type: string;
  readonly payload: Buffer;
}

const MAX_BOXES = 10_000;

/** Encodes a box of an MP4. */
export function writeBox(type: string, ...parts: readonly Uint8Array[]): Buffer {
  const payload = Buffer.concat(parts);
  const head = Buffer.alloc(8);
  head.writeUInt32BE(payload.length + 8);
  head.write(type, 4, "latin1");
  return Buffer.concat([head, payload]);
}

/** Returns the boxes that bytes in memory contain. @throws MediaRejected */
export function heldBoxes(bytes: Buffer): readonly HeldBox[] {
  const source: ByteSource = {
    bytes: bytes.length,
    read: (offset, length) => bytes.subarray(offset, offset + length),
  };
  const found = readBoxes(source, { payload: 0, end: bytes.length }, { left: MAX_BOXES });
  return found.map((box: Box) => ({
    type: box.type,
    payload: bytes.subarray(box.payload, box.end),
  }));
}

/** Returns the first box of a type; undefined without one. */
export function findBox(boxes: readonly HeldBox[], type: string): HeldBox | undefined {
  return boxes.find((box) => box.type === type);
}

/** Encodes a box again without a change. */
export function copyBox({ type, payload }: HeldBox): Buffer {
  return writeBox(type, payload);
}
