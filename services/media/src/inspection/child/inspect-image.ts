import { readSync } from "node:fs";
import { readBmp } from "#src/domain/images/bmp.ts";
import { readGif } from "#src/domain/images/gif.ts";
import type { ImageLayout } from "#src/domain/images/image-layout.ts";
import { readJpeg } from "#src/domain/images/jpeg.ts";
import { readPng } from "#src/domain/images/png.ts";
import { readTiff } from "#src/domain/images/tiff.ts";
import { readWebp } from "#src/domain/images/webp.ts";
import type { InspectedMedia, Delivery } from "#src/domain/inspected-media.ts";
import { tooManyPixels, unreadable } from "#src/domain/media-rejected.ts";
import { OUTPUT_FD } from "#src/inspection/inspection-protocol.ts";
import { decodeImage, type DecodedImage } from "./decode-image.ts";
import { hashFile } from "./hash-file.ts";
import type { OpenFile, OpenImage } from "./open-file.ts";
import { rotateImage } from "./rotate-image.ts";
import { writeParts } from "./write-parts.ts";

const MAX_PIXELS = 100_000_000;
/**
 * Maximum number of pixels of all frames or pages of an image together. Decoding this many pixels takes about two
 * seconds.
 */
const MAX_TOTAL_PIXELS = 400_000_000;
/**
 * Bytes of the inspection process's memory that the decoded image cannot use: Node, the libraries and the file need
 * them.
 */
const RESERVED_BYTES = 130_000_000;

const READERS: ReadonlyMap<string, (file: Buffer) => ImageLayout> = new Map([
  ["image/jpeg", readJpeg],
  ["image/png", readPng],
  ["image/gif", readGif],
  ["image/webp", readWebp],
  ["image/tiff", readTiff],
  ["image/bmp", readBmp],
]);

/**
 * Parses an image, decodes every pixel, and writes the file that platforms receive: the upright image without metadata.
 */
export async function inspectImage(file: OpenFile): Promise<InspectedMedia> {
  const content = Buffer.alloc(file.bytes);
  if (readSync(file.fd, content, 0, file.bytes, 0) !== file.bytes) {
    throw new Error("the file changed while it was read");
  }
  const layout = READERS.get(file.contentType)?.(content);
  if (layout === undefined) throw new Error(`no reader for ${file.contentType}`);
  const image: OpenImage = { ...file, content };
  checkSize(layout, file.limits.memoryBytes - RESERVED_BYTES);
  // The library sharp cannot decode BMP files, whose pixels `readBmp` has already read.
  const isBmp = file.contentType === "image/bmp";
  const decoded = isBmp ? UPRIGHT : await decodeImage(image, layout);
  const swapsSides = decoded.orientation >= 5;
  return {
    kind: "image",
    contentType: file.contentType,
    bytes: file.bytes,
    sha256: (await hashFile(file)).sha256,
    width: swapsSides ? layout.height : layout.width,
    height: swapsSides ? layout.width : layout.height,
    durationMs: null,
    delivery: await prepareDelivery(image, layout, decoded),
  };
}

const UPRIGHT: DecodedImage = { orientation: 1, isCmyk: false, is16Bit: false, pixelBytes: 0 };

function checkSize(layout: ImageLayout, budgetBytes: number): void {
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
  if (decodeBytes > budgetBytes) {
    // Progressive, interlaced and lossless images have to be decoded into memory as a whole.
    const limit = Math.floor((pixels * budgetBytes) / decodeBytes);
    throw tooManyPixels("The image is too large for its encoding.", limit, pixels);
  }
}

async function prepareDelivery(
  image: OpenImage,
  layout: ImageLayout,
  decoded: DecodedImage,
): Promise<Delivery> {
  // A TIFF is always rotated: it stores its orientation outside of EXIF, and platforms that convert TIFFs often ignore it.
  if (!layout.hasMetadata && decoded.orientation === 1) return { kind: "same" };
  const { content, contentType, limits, onProgress } = image;
  const isRotated = await rotateImage(image, layout, decoded, limits.memoryBytes - RESERVED_BYTES);
  if (!isRotated && !layout.hasMetadata) return { kind: "same" };
  const written = isRotated
    ? await hashFile({ fd: OUTPUT_FD, onProgress })
    : writeParts(content, layout.withoutMetadata(decoded.orientation), OUTPUT_FD);
  return { kind: "rewritten", path: "", contentType, ...written };
}
