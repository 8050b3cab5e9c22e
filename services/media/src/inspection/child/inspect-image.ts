import { createHash } from "node:crypto";
import { readSync, writeSync } from "node:fs";
import sharp, { type Sharp } from "sharp";
import type { ImageLayout, ImagePart } from "#src/domain/images/image-layout.ts";
import type { Delivery, InspectedMedia } from "#src/domain/inspected-media.ts";
import { OUTPUT_FD } from "#src/inspection/inspection-protocol.ts";
import { type DecodedImage, decodeImage, imageOptions } from "./decode-image.ts";
import { type HashedFile, hashFile } from "./hash-file.ts";
import { pixelBudget, readLayout } from "./image-layouts.ts";
import type { OpenFile, OpenImage } from "./open-file.ts";

/** Path of the open file to which the rewritten image is saved. The image library can save a file only by its path. */
const TARGET = `/dev/fd/${OUTPUT_FD}`;
/**
 * Quality of JPEG and WebP images that are encoded again: the loss is invisible and the file stays about as large as a
 * camera's.
 */
const QUALITY = 95;
/**
 * Memory that the encoder of a rotated image needs, as a multiple of the decoded image, by media type. Images of other
 * types are not rewritten.
 */
const ENCODER_FACTORS: ReadonlyMap<string, number> = new Map([
  ["image/jpeg", 1],
  ["image/png", 1],
  ["image/tiff", 1],
  ["image/webp", 4],
]);

/**
 * Writes an upright copy of an image without metadata to `OUTPUT_FD` when the image is not upright, or has the colours of
 * print (CMYK), which platforms and browsers show wrongly. An image that has to be rotated must fit into `budgetBytes` of
 * memory; any other is converted row by row.
 *
 * @returns false when no copy was written. The caller then keeps the orientation as the only EXIF tag, which needs no
 *   memory.
 */
async function rewriteImage(
  file: OpenImage,
  layout: ImageLayout,
  decoded: DecodedImage,
  budgetBytes: number,
): Promise<boolean> {
  const factor = ENCODER_FACTORS.get(file.contentType);
  const isUpright = decoded.orientation === 1;
  if (factor === undefined || layout.frames > 1 || (isUpright && !decoded.isCmyk)) return false;
  const neededBytes = layout.totalPixels * decoded.pixelBytes * factor + layout.decodeBytes;
  if (!isUpright && neededBytes > budgetBytes) return false;
  const image = sharp(file.content, imageOptions({})).autoOrient();
  if (decoded.is16Bit) image.toColourspace("rgb16");
  // The library sharp converts CMYK images to sRGB. The colour profile of the source describes CMYK colours, so it is not kept.
  if (!decoded.isCmyk) image.keepIccProfile();
  await encode(image, file.contentType, layout.lossless).toFile(TARGET);
  file.onProgress();
  return true;
}

function encode(image: Sharp, contentType: string, lossless: boolean): Sharp {
  switch (contentType) {
    case "image/png":
      return image.png({ compressionLevel: 6 });
    case "image/webp":
      return image.webp(lossless ? { lossless: true } : { quality: QUALITY });
    case "image/tiff":
      return image.tiff({ compression: "deflate", predictor: "horizontal" });
    default:
      // `optimiseCoding` is off, because with it the JPEG encoder needs the coefficients of the whole image in memory.
      return image.jpeg({ quality: QUALITY, chromaSubsampling: "4:4:4", optimiseCoding: false });
  }
}

/** Writes an image that consists of ranges of `source` and of inserted bytes to an open, empty file. */
function writeParts(source: Uint8Array, parts: readonly ImagePart[], target: number): HashedFile {
  const hash = createHash("sha256");
  let bytes = 0;
  for (const part of parts) {
    const content = part instanceof Uint8Array ? part : source.subarray(part.start, part.end);
    hash.update(content);
    for (let at = 0; at < content.length;)
      at += writeSync(target, content, at, content.length - at, bytes + at);
    bytes += content.length;
  }
  return { bytes, sha256: hash.digest("hex") };
}

/** Reads an image file into memory. */
export function openImage(file: OpenFile): OpenImage {
  const content = Buffer.alloc(file.bytes);
  if (readSync(file.fd, content, 0, file.bytes, 0) !== file.bytes)
    throw new Error("the file changed while it was read");

  return { ...file, content };
}

/**
 * Parses an image, decodes every pixel, and writes the file that platforms receive: the upright image without metadata,
 * in RGB or grey.
 */
export async function inspectImage(file: OpenFile): Promise<InspectedMedia> {
  const image = openImage(file);
  const layout = readLayout(image, pixelBudget(file.limits));
  // The library sharp cannot decode BMP files. `readBmp` has already read their pixels, so they are not decoded again.
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
    frames: layout.frames,
    delivery: await prepareDelivery(image, layout, decoded),
  };
}

const UPRIGHT: DecodedImage = { orientation: 1, isCmyk: false, is16Bit: false, pixelBytes: 0 };

async function prepareDelivery(
  image: OpenImage,
  layout: ImageLayout,
  decoded: DecodedImage,
): Promise<Delivery> {
  const { content, contentType, limits, onProgress } = image;
  // A TIFF is always rotated: it stores its orientation outside of EXIF, and platforms that convert TIFFs often ignore it.
  const isRewritten = await rewriteImage(image, layout, decoded, pixelBudget(limits));
  if (!isRewritten && !layout.hasMetadata) return { kind: "same" };
  const written = isRewritten
    ? await hashFile({ fd: OUTPUT_FD, onProgress })
    : writeParts(content, layout.withoutMetadata(decoded.orientation), OUTPUT_FD);
  return { kind: "rewritten", path: "", contentType, ...written };
}
