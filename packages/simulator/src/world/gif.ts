/** Length in bytes of a GIF's signature and screen description, which precede the colours. */
const HEAD_BYTES = 13;
/** Length in bytes of a GIF frame's description, including the byte that announces it. */
const FRAME_HEAD_BYTES = 10;
const EXTENSION = 0x21;
const FRAME = 0x2c;

function colourTableBytes(flags = 0): number {
  const hasTable = (flags & 0x80) !== 0;
  return hasTable ? 3 * 2 ** ((flags & 0x07) + 1) : 0;
}

/** Returns the position after a list of GIF blocks. Each block begins with its length; a block of length 0 ends the list. */
function afterBlocks(file: Buffer, start: number): number {
  let at = start;
  while ((file[at] ?? 0) > 0) {
    at += (file[at] ?? 0) + 1;
  }
  return at + 1;
}

/** Number of frames in a GIF file. In a truncated file, the number of frames that begin in it. */
export function countGifFrames(file: Buffer): number {
  let frames = 0;
  let at = HEAD_BYTES + colourTableBytes(file[10]);
  for (;;) {
    if (file[at] === EXTENSION) {
      at = afterBlocks(file, at + 2);
    } else if (file[at] === FRAME) {
      frames += 1;
      // In a GIF frame, one byte about the compression is between the colours and the pixels.
      at = afterBlocks(file, at + FRAME_HEAD_BYTES + colourTableBytes(file[at + 9]) + 1);
    } else {
      return frames;
    }
  }
}
