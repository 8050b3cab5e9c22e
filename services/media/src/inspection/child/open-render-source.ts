import type { ImageLayout } from "#src/domain/images/image-layout.ts";
import type { Refusal } from "#src/domain/rendition-plan.ts";
import { orientationOf, readMetadata } from "./decode-image.ts";
import { pixelBudget, readLayout } from "./image-layouts.ts";
import type { OpenImage } from "./open-file.ts";

/** An image from which renditions are made. */
export interface RenderSource {
  /** The file of the image in a form that the library sharp reads. */
  readonly content: Buffer;
  readonly layout: ImageLayout;
  /** Why no rendition can be made from the image; undefined when it can be tried. */
  readonly refusal: Refusal | undefined;
  /** EXIF orientation of the image, 1 to 8. */
  readonly orientation: number;
  /** Bytes of memory that decoded images may use. */
  readonly budgetBytes: number;
  /** Restarts the time limit; called after each step whose duration grows with the image. */
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
  const refusal = findRefusal(image, layout);
  const orientation =
    refusal === undefined ? orientationOf(await readMetadata(image, layout), layout) : 1;
  return { content, layout, refusal, orientation, budgetBytes, onProgress };
}

function findRefusal({ contentType }: OpenImage, { frames }: ImageLayout): Refusal | undefined {
  // The library sharp cannot decode BMP files.
  if (contentType === "image/bmp") return "encoding";
  if (frames === 1) return undefined;
  return contentType === "image/tiff" ? "several_pages" : "animated";
}
