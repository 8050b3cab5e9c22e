import { readBmp } from "#src/domain/images/bmp.ts";
import { readGif } from "#src/domain/images/gif.ts";
import type { ImageLayout } from "#src/domain/images/image-layout.ts";
import { readJpeg } from "#src/domain/images/jpeg.ts";
import { readPng } from "#src/domain/images/png.ts";
import { readTiff } from "#src/domain/images/tiff.ts";
import { readWebp } from "#src/domain/images/webp.ts";
import { tooManyPixels, unreadable } from "#src/domain/media-rejected.ts";

const MAX_PIXELS = 100_000_000;
/** Maximum for all frames or pages together. Decoding this many takes about two seconds. */
const MAX_TOTAL_PIXELS = 400_000_000;
/** Node, the libraries and the file need this much memory beside the decoded image. */
const RESERVED_BYTES = 130_000_000;

const READERS: ReadonlyMap<string, (file: Buffer) => ImageLayout> = new Map([
  ["image/jpeg", readJpeg],
  ["image/png", readPng],
  ["image/gif", readGif],
  ["image/webp", readWebp],
  ["image/tiff", readTiff],
  ["image/bmp", readBmp],
]);

/** Bytes that decoded images may use in a process that may use `memoryBytes` in all. */
export function pixelBudget({ memoryBytes }: { readonly memoryBytes: number }): number {
  return memoryBytes - RESERVED_BYTES;
}

/**
 * Reads the structure and checks that it can be decoded in `budgetBytes`.
 *
 * @throws MediaRejected
 */
export function readLayout(
  { content, contentType }: { readonly content: Buffer; readonly contentType: string },
  budgetBytes: number,
): ImageLayout {
  const layout = READERS.get(contentType)?.(content);
  if (layout === undefined) throw new Error(`no reader for ${contentType}`);
  checkSize(layout, budgetBytes);
  return layout;
}

function checkSize(layout: ImageLayout, budgetBytes: number): void {
  const { width, height, totalPixels, decodeBytes } = layout;
  if (width < 1 || height < 1) throw unreadable("The image has no pixels.");
  const pixels = width * height;
  if (pixels > MAX_PIXELS)
    throw tooManyPixels("The image has over 100 megapixels.", MAX_PIXELS, pixels);

  if (totalPixels > MAX_TOTAL_PIXELS) {
    const message = "All frames of the image together have over 400 megapixels.";
    throw tooManyPixels(message, MAX_TOTAL_PIXELS, totalPixels);
  }
  if (decodeBytes > budgetBytes) {
    // Such an image has to be decoded into memory as a whole.
    const limit = Math.floor((pixels * budgetBytes) / decodeBytes);
    throw tooManyPixels("The image is too large for its encoding.", limit, pixels);
  }
}
