import { readBmpPixels } from "#src/domain/images/bmp.ts";
import type { ImageLayout } from "#src/domain/images/image-layout.ts";
import { createTiffHeader } from "#src/domain/images/tiff-header.ts";
import type { Refusal } from "#src/domain/rendition-plan.ts";
import { orientationOf, readMetadata } from "./decode-image.ts";
import { pixelBudget, readLayout } from "./image-layouts.ts";
import type { OpenImage } from "./open-file.ts";

/** The conversion of a BMP holds two copies of the pixels. */
const BMP_SHARE = 0.25;

export interface RenderSource {
  readonly content: Buffer;
  readonly layout: ImageLayout;
  readonly refusal: Refusal | undefined;
  readonly orientation: number;
  readonly budgetBytes: number;
  readonly onProgress: () => void;
}

/**
 * The inspection has checked the content before.
 *
 * @throws MediaRejected
 */
export async function openRenderSource(image: OpenImage): Promise<RenderSource> {
  const { content, limits, onProgress } = image;
  const budgetBytes = pixelBudget(limits);
  const layout = readLayout(image, budgetBytes);
  // sharp cannot decode BMP.
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

/** Returns the refusal of a BMP that cannot be converted. */
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
