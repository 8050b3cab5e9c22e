import sharp, { type Sharp } from "sharp";
import type { ImageLayout } from "#src/domain/image-layout.ts";
import { imageOptions, type DecodedImage } from "./decode-image.ts";
import type { OpenMedia } from "./inspect-file.ts";

/** Of JPEG and WebP: what is lost cannot be seen, and the file stays about as large as a camera's. */
const QUALITY = 95;
/** Bytes of memory for one of a decoded picture: the WebP encoder holds it several times over. */
const ENCODER_FACTORS: ReadonlyMap<string, number> = new Map([
  ["image/jpeg", 1],
  ["image/png", 1],
  ["image/tiff", 1],
  ["image/webp", 4],
]);

/**
 * Writes an upright copy without metadata to `target`, if the picture needs turning and fits into `budget`: turning takes
 * all of it in memory. Otherwise false, and nothing is written: such a picture keeps its orientation as its only EXIF,
 * which loses no pixel.
 */
export async function turnImage(
  file: OpenMedia,
  target: string,
  layout: ImageLayout,
  decoded: DecodedImage,
  budget: number,
): Promise<boolean> {
  const factor = ENCODER_FACTORS.get(file.contentType);
  if (decoded.orientation === 1 || factor === undefined) return false;
  if (layout.totalPixels * decoded.pixelBytes * factor + layout.decodeBytes > budget) return false;
  const image = sharp(file.path, imageOptions({})).autoOrient();
  if (decoded.is16Bit) image.toColourspace("rgb16");
  // The profile of a CMYK picture does not fit its colours on a screen, to which sharp converts them.
  if (!decoded.isCmyk) image.keepIccProfile();
  await encode(image, file.contentType, layout.lossless).toFile(target);
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
      // Optimal Huffman tables would need the coefficients of the whole picture in memory.
      return image.jpeg({ quality: QUALITY, chromaSubsampling: "4:4:4", optimiseCoding: false });
  }
}
