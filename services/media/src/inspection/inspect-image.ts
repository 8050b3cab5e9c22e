import { readSync } from "node:fs";
import { readBmp } from "#src/domain/bmp.ts";
import type { CheckedMedia, Delivery } from "#src/domain/checked-media.ts";
import { readGif } from "#src/domain/gif.ts";
import type { ImageLayout } from "#src/domain/image-layout.ts";
import { readJpeg } from "#src/domain/jpeg.ts";
import { tooManyPixels, unreadable } from "#src/domain/media-rejected.ts";
import { readPng } from "#src/domain/png.ts";
import { readTiff } from "#src/domain/tiff.ts";
import { readWebp } from "#src/domain/webp.ts";
import { hashFile } from "#src/operations/hash-file.ts";
import { writePieces } from "#src/operations/write-pieces.ts";
import { decodeImage, type DecodedImage } from "./decode-image.ts";
import type { OpenMedia } from "./inspect-file.ts";
import { deliveryPathOf } from "./inspection-protocol.ts";
import { turnImage } from "./rotate-image.ts";

const MAX_PIXELS = 100_000_000;
/** Of all frames or pages together: about two seconds of decoding. */
const MAX_TOTAL_PIXELS = 400_000_000;
/** What the process needs beside the picture: Node, the libraries, the file. */
const RESERVED_BYTES = 130_000_000;

const READERS: ReadonlyMap<string, (file: Buffer) => ImageLayout> = new Map([
  ["image/jpeg", readJpeg],
  ["image/png", readPng],
  ["image/gif", readGif],
  ["image/webp", readWebp],
  ["image/tiff", readTiff],
  ["image/bmp", readBmp],
]);

/** Reads the structure of an image, decodes it in full, and prepares the form without metadata if it has any. */
export async function checkImage(file: OpenMedia): Promise<CheckedMedia> {
  const content = Buffer.alloc(file.bytes);
  if (readSync(file.fd, content, 0, file.bytes, 0) !== file.bytes) {
    throw new Error("the file changed while it was read");
  }
  const layout = READERS.get(file.contentType)?.(content);
  if (layout === undefined) throw new Error(`no reader for ${file.contentType}`);
  checkSize(layout, file.limits.memoryBytes - RESERVED_BYTES);
  // There is nothing to decode in a BMP: its reader has seen every pixel.
  const isBmp = file.contentType === "image/bmp";
  const decoded = isBmp ? UPRIGHT : await decodeImage(file, layout);
  const isTurned = decoded.orientation >= 5;
  return {
    kind: "image",
    contentType: file.contentType,
    bytes: file.bytes,
    sha256: (await hashFile(file)).sha256,
    width: isTurned ? layout.height : layout.width,
    height: isTurned ? layout.width : layout.height,
    durationMs: null,
    delivery: await prepareDelivery(file, content, layout, decoded),
  };
}

const UPRIGHT: DecodedImage = { orientation: 1, isCmyk: false, is16Bit: false, pixelBytes: 0 };

function checkSize(layout: ImageLayout, budget: number): void {
  const { width, height, totalPixels, decodeBytes } = layout;
  if (width < 1 || height < 1) throw unreadable("The image has no pixels.");
  const pixels = width * height;
  if (pixels > MAX_PIXELS) {
    throw tooManyPixels("The image has over 100 megapixels.", MAX_PIXELS, pixels);
  }
  if (totalPixels > MAX_TOTAL_PIXELS) {
    const message = "All frames of the image together have over 400 megapixels.";
    throw tooManyPixels(message, MAX_TOTAL_PIXELS, totalPixels);
  }
  if (decodeBytes > budget) {
    // Progressive, interlaced and lossless pictures are only whole when all of it is in memory.
    const limit = Math.floor((pixels * budget) / decodeBytes);
    throw tooManyPixels("The image is too large for the way it is coded.", limit, pixels);
  }
}

async function prepareDelivery(
  file: OpenMedia,
  content: Buffer,
  layout: ImageLayout,
  decoded: DecodedImage,
): Promise<Delivery> {
  // A TIFF says its orientation without EXIF; platforms that convert it do not always look.
  if (!layout.hasMetadata && decoded.orientation === 1) return { kind: "same" };
  const target = deliveryPathOf(file.path);
  const budget = file.limits.memoryBytes - RESERVED_BYTES;
  const isTurned = await turnImage(file, target, layout, decoded, budget);
  if (!isTurned && !layout.hasMetadata) return { kind: "same" };
  const written = isTurned
    ? await hashFile({ path: target, onProgress: file.onProgress })
    : await writePieces(content, layout.withoutMetadata(decoded.orientation), target);
  return { kind: "rewritten", path: target, contentType: file.contentType, ...written };
}
