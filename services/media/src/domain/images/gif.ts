import { unreadable } from "#src/domain/media-rejected.ts";
import { hasTrailingBytes, type ImageLayout, type ImagePart } from "./image-layout.ts";

const MAX_BLOCKS = 100_000;
const EXTENSION = 0x21;
const IMAGE = 0x2c;
const TRAILER = 0x3b;
const COMMENT = 0xfe;
const APPLICATION = 0xff;

interface Block {
  readonly kind: "image" | "comment" | "personal" | "other";
  readonly start: number;
  readonly end: number;
}

/** Reads the structure of a GIF to its trailer (GIF89a, sections 17 to 27). */
export function readGif(file: Buffer): ImageLayout {
  if (file.length < 14) throw unreadable("The GIF ends within its header.");
  const width = file.readUInt16LE(6);
  const height = file.readUInt16LE(8);
  const first = 13 + colourTableBytes(file[10] ?? 0);
  const blocks = readBlocks(file, first);
  const frames = blocks.filter(({ kind }) => kind === "image").length;
  if (frames === 0) throw unreadable("The GIF has no image.");
  const end = (blocks.at(-1)?.end ?? first) + 1;
  const kept = blocks.filter(({ kind }) => kind === "image" || kind === "other");
  const parts: ImagePart[] = [{ start: 0, end: first }, ...kept, { start: end - 1, end }];
  return {
    width,
    height,
    frames,
    totalPixels: width * height * frames,
    // The decoder keeps the canvas, the frame and the previous frame with four bytes per pixel.
    decodeBytes: width * height * 12,
    lossless: true,
    hasMetadata: hasTrailingBytes(file, end) || blocks.some(({ kind }) => kind === "personal"),
    withoutMetadata: () => parts,
  };
}

function readBlocks(file: Buffer, first: number): Block[] {
  const blocks: Block[] = [];
  let at = first;
  while (blocks.length < MAX_BLOCKS) {
    if (file[at] === TRAILER) return blocks;
    const block = readBlock(file, at);
    blocks.push(block);
    at = block.end;
  }
  throw unreadable(`The GIF has more than ${MAX_BLOCKS} blocks.`);
}

function readBlock(file: Buffer, start: number): Block {
  const introducer = file[start];
  if (introducer === EXTENSION)
    return { kind: extensionKind(file, start), start, end: skipSubBlocks(file, start + 2) };

  if (introducer === IMAGE && start + 10 < file.length) {
    const data = start + 10 + colourTableBytes(file[start + 9] ?? 0);
    return { kind: "image", start, end: skipSubBlocks(file, data + 1) };
  }
  if (introducer === undefined) throw unreadable("The GIF ends before its trailer.");
  throw unreadable("The GIF has bytes that belong to no block.");
}

function extensionKind(file: Buffer, start: number): Block["kind"] {
  if (file[start + 1] === COMMENT) return "comment";
  const name = file.toString("latin1", start + 3, start + 14);
  // Loop counts and colour profiles affect how the image looks, so they are kept.
  const isNeeded = /^(NETSCAPE2\.0|ANIMEXTS1\.0|ICCRGBG1012)/.test(name);
  return file[start + 1] === APPLICATION && !isNeeded ? "personal" : "other";
}

function skipSubBlocks(file: Buffer, start: number): number {
  let at = start;
  let length = file[at];
  while (length !== undefined && length !== 0) {
    at += 1 + length;
    length = file[at];
  }
  if (length === undefined) throw unreadable("A block of the GIF is truncated.");
  return at + 1;
}

function colourTableBytes(flags: number): number {
  return flags & 0x80 ? 3 << ((flags & 7) + 1) : 0;
}
