export interface WebpFacts {
  readonly width?: number;
  readonly height?: number;
  readonly frames: number;
}

/** Position of the first chunk's name in a WebP file, after `RIFF`, the length and `WEBP`. */
const FIRST_CHUNK = 12;
/** Length in bytes of a WebP chunk's name and length. */
const CHUNK_HEAD = 8;
const FIRST_CONTENT = FIRST_CHUNK + CHUNK_HEAD;
/** Number of bytes at the start of a WebP file that contain the size, for every kind of WebP. */
const HEAD_BYTES = 30;
const ANIMATION_FLAG = 0x02;
const SIDE_14_BITS = 0x3fff;

function textAt(file: Buffer, at: number): string {
  return file.toString("latin1", at, at + 4);
}

function countFrames(file: Buffer): number {
  let frames = 0;
  for (let at = FIRST_CHUNK; at + CHUNK_HEAD <= file.length;) {
    frames += textAt(file, at) === "ANMF" ? 1 : 0;
    const bytes = file.readUInt32LE(at + 4);
    // In a WebP file, one byte of padding follows a chunk of odd length.
    at += CHUNK_HEAD + bytes + (bytes % 2);
  }
  return frames;
}

/**
 * Reads the size and the number of frames of a WebP image, of each of its three kinds: lossy
 * (`VP8 `), lossless (`VP8L`) and extended (`VP8X`), which can be animated. Source: WebP Container
 * Specification; RFC 6386, section 9.1.
 */
export function readWebp(file: Buffer): WebpFacts {
  if (file.length < HEAD_BYTES) return { frames: 1 };

  switch (textAt(file, FIRST_CHUNK)) {
    case "VP8 ": {
      // In a `VP8 ` chunk, three bytes about the frame and a start code of three bytes precede the
      // size.
      const width = file.readUInt16LE(FIRST_CONTENT + 6) & SIDE_14_BITS;
      const height = file.readUInt16LE(FIRST_CONTENT + 8) & SIDE_14_BITS;
      return { width, height, frames: 1 };
    }
    case "VP8L": {
      const sides = file.readUInt32LE(FIRST_CONTENT + 1);
      const [width, height] = [sides & SIDE_14_BITS, (sides >>> 14) & SIDE_14_BITS];
      return { width: width + 1, height: height + 1, frames: 1 };
    }
    case "VP8X": {
      const isAnimated = ((file[FIRST_CONTENT] ?? 0) & ANIMATION_FLAG) !== 0;
      return {
        width: file.readUIntLE(FIRST_CONTENT + 4, 3) + 1,
        height: file.readUIntLE(FIRST_CONTENT + 7, 3) + 1,
        frames: isAnimated ? countFrames(file) : 1,
      };
    }
    default:
      return { frames: 1 };
  }
}
