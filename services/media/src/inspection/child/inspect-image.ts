import { createHash } from "node:crypto";
import { readSync, writeSync } from "node:fs";
import sharp, { type Sharp } from "sharp";
import type { ImageLayout, ImagePart } from "#src/domain/images/image-layout.ts";
import type { Delivery, InspectedMedia } from "#src/domain/inspected-media.ts";
import { OUTPUT_FD } from "#src/inspection/inspection-protocol.ts";
import { type DecodedImage, decodeImage, imageOptions } from "./decode-image.ts";
import { pixelBudget, readLayout } from "./image-layouts.ts";
import { type HashedFile, hashFile, type OpenFile, type OpenImage } from "./open-file.ts";

/** The image library can save a file only by its path. */
const TARGET = `/dev/fd/${OUTPUT_FD}`;
/** The loss is invisible and the file stays about as large as a camera's. */
const QUALITY = 95;
/**
 * Memory of the encoder as a multiple of the decoded image. Images of other types are not
 * rewritten.
 */
const ENCODER_FACTORS: ReadonlyMap<string, number> = new Map([
  ["image/jpeg", 1],
  ["image/png", 1],
  ["image/tiff", 1],
  ["image/webp", 4],
]);

/**
 * Writes an upright copy without metadata when the image is not upright, or has the colours of
 * print (CMYK), which platforms show wrongly. An image that has to be rotated must fit into
 * `budgetBytes`; any other is converted row by row.
 *
 * @returns false when no copy was written; the orientation then stays as the only EXIF tag.
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
  // sharp converts CMYK to sRGB; the profile of the source describes CMYK colours.
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
      // With `optimiseCoding` the encoder needs the coefficients of the whole image in memory.
      return image.jpeg({ quality: QUALITY, chromaSubsampling: "4:4:4", optimiseCoding: false });
  }
}

/** Writes ranges of `source` and inserted bytes to an empty file. */
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

export function openImage(file: OpenFile): OpenImage {
  const content = Buffer.alloc(file.bytes);
  if (readSync(file.fd, content, 0, file.bytes, 0) !== file.bytes)
    throw new Error("the file changed while it was read");

  return { ...file, content };
}

/**
 * Decodes every pixel, and writes the file that platforms receive: upright, without metadata, in
 * RGB or grey.
 */
export async function inspectImage(file: OpenFile): Promise<InspectedMedia> {
  const image = openImage(file);
  const layout = readLayout(image, pixelBudget(file.limits));
  // sharp cannot decode BMP; `readBmp` has read the pixels.
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
  // A TIFF stores its orientation outside of EXIF, and platforms that convert TIFFs often ignore
  // it.
  const isRewritten = await rewriteImage(image, layout, decoded, pixelBudget(limits));
  if (!isRewritten && !layout.hasMetadata) return { kind: "same" };
  const written = isRewritten
    ? await hashFile({ fd: OUTPUT_FD, onProgress })
    : writeParts(content, layout.withoutMetadata(decoded.orientation), OUTPUT_FD);
  return { kind: "rewritten", path: "", contentType, ...written };
}
