import { readBmpPixels } from "#src/domain/images/bmp-pixels.ts";
import type { ImageLayout } from "#src/domain/images/image-layout.ts";
import { createTiffHeader } from "#src/domain/images/tiff-header.ts";
import type { Refusal } from "#src/domain/rendition-plan.ts";
import { orientationOf, readMetadata } from "./decode-image.ts";
import { pixelBudget, readLayout } from "./image-layouts.ts";
import type { OpenImage } from "./open-file.ts";

/** Fraction of the memory for decoded images that the pixels of a BMP may use: the conversion holds two copies of the pixels. */
const BMP_SHARE = 0.25;

/** An image from which renditions are made. */
export interface RenderSource {
  /** The file of the image in a form that the library sharp reads. */
  readonly content: Buffer;
  readonly layout: ImageLayout;
  /** Why no rendition can be made from the image; undefined when no reason was found in its type and structure. */
  readonly refusal: Refusal | undefined;
  /** EXIF orientation of the image, 1 to 8. */
  readonly orientation: number;
  /** Maximum bytes of memory that decoded images may use in this process. */
  readonly budgetBytes: number;
  /** Restarts the time limit of the process; called after each step whose duration grows with the image. */
  readonly onProgress: () => void;
}

/**
 * Reads the structure of an image whose content the inspection has checked before.
 *
 * @throws MediaRejected
 */
export async function openRenderSource(image: OpenImage): Promise<RenderSource> {
  const { content, limits, onProgress } = image;
  const budgetBytes = pixelBudget(limits);
  const layout = readLayout(image, budgetBytes);
  // The library sharp cannot decode BMP files, so a BMP is converted to a TIFF first.
  if (image.contentType === "image/bmp") {
    const shared = { layout, orientation: 1, budgetBytes, onProgress };
    const tiff = bmpToTiff(content, layout, budgetBytes);
    return typeof tiff === "string"
      ? { ...shared, content, refusal: tiff }
      : { ...shared, content: tiff, refusal: undefined };
  }
  const refusal = findRefusal(image, layout);
  const orientation =
    refusal === undefined ? orientationOf(await readMetadata(image, layout), layout) : 1;
  return { content, layout, refusal, orientation, budgetBytes, onProgress };
}

/** Converts a BMP to a TIFF in memory. Returns why no rendition can be made when the BMP cannot be converted. */
function bmpToTiff(
  content: Buffer,
  { width, height }: ImageLayout,
  budgetBytes: number,
): Buffer | Refusal {
  if (3 * width * height > BMP_SHARE * budgetBytes) return "too_demanding";
  const pixels = readBmpPixels(content);
  if (pixels === undefined) return "encoding";
  const shape = { samples: 3, orientation: 1, profile: new Uint8Array() } as const;
  const header = createTiffHeader({ width, height, ...shape });
  return Buffer.concat([header, pixels.data]);
}

function findRefusal({ contentType }: OpenImage, { frames }: ImageLayout): Refusal | undefined {
  if (frames === 1) return undefined;
  return contentType === "image/tiff" ? "several_pages" : "animated";
}
