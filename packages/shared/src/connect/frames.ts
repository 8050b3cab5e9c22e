/**
 * A sequence of texts with bytes, in which several calls or answers are one body. The lengths of
 * both stand first, as 32-bit numbers.
 */
export interface Frame {
  readonly text: string;
  readonly bytes: Uint8Array;
}

const LENGTHS_BYTES = 8;

export function encodeFrames(frames: readonly Frame[]): Buffer {
  return Buffer.concat(
    frames.flatMap(({ text, bytes }) => {
      const encoded = Buffer.from(text);
      const lengths = Buffer.allocUnsafe(LENGTHS_BYTES);
      lengths.writeUInt32BE(encoded.length, 0);
      lengths.writeUInt32BE(bytes.length, 4);
      return [lengths, encoded, bytes];
    }),
  );
}

/** Returns the frames that have arrived as a whole, and the bytes of the next one. */
export function decodeFrames(bytes: Buffer): { readonly frames: Frame[]; readonly rest: Buffer } {
  const frames: Frame[] = [];
  let start = 0;
  while (bytes.length - start >= LENGTHS_BYTES) {
    const textAt = start + LENGTHS_BYTES;
    const bytesAt = textAt + bytes.readUInt32BE(start);
    const end = bytesAt + bytes.readUInt32BE(start + 4);
    if (end > bytes.length) break;
    const text = bytes.toString("utf8", textAt, bytesAt);
    frames.push({ text, bytes: bytes.subarray(bytesAt, end) });
    start = end;
  }
  return { frames, rest: bytes.subarray(start) };
}
