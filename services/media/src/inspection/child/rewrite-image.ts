import sharp, { type Sharp } from "sharp";
import type { ImageLayout } from "#src/domain/images/image-layout.ts";
import { OUTPUT_FD } from "#src/inspection/inspection-protocol.ts";
import { imageOptions, type DecodedImage } from "./decode-image.ts";
import type { OpenImage } from "./open-file.ts";

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
export async function rewriteImage(
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
