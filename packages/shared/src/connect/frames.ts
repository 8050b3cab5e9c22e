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

interface Decoded {
  /** Those that have arrived as a whole. */
  readonly frames: Frame[];
  /** The bytes of the next one. */
  readonly rest: Buffer;
  /** With fewer bytes than these no other frame is complete. */
  readonly missingBytes: number;
}

export function decodeFrames(bytes: Buffer): Decoded {
  const frames: Frame[] = [];
  let start = 0;
  let end = LENGTHS_BYTES;
  while (bytes.length - start >= LENGTHS_BYTES) {
    const textAt = start + LENGTHS_BYTES;
    const bytesAt = textAt + bytes.readUInt32BE(start);
    end = bytesAt + bytes.readUInt32BE(start + 4);
    if (end > bytes.length) break;
    const text = bytes.toString("utf8", textAt, bytesAt);
    frames.push({ text, bytes: bytes.subarray(bytesAt, end) });
    start = end;
    end += LENGTHS_BYTES;
  }
  return { frames, rest: bytes.subarray(start), missingBytes: end - bytes.length };
}
