import type { ByteSource } from "./byte-source.ts";
import { readBoxes, type Box } from "./mp4-box.ts";

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

export function findBox(boxes: readonly HeldBox[], type: string): HeldBox | undefined {
  return boxes.find((box) => box.type === type);
}

export function copyBox({ type, payload }: HeldBox): Buffer {
  return writeBox(type, payload);
}
