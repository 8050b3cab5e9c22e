import sharp, { type Metadata, type SharpOptions } from "sharp";
import type { ImageLayout } from "#src/domain/images/image-layout.ts";
import { unreadable } from "#src/domain/media-rejected.ts";
import type { OpenFile, OpenImage } from "./open-file.ts";

// libvips uses one thread, no cache between images, and only the loaders of the accepted types,
// because every other loader could be attacked.
sharp.concurrency(1);
sharp.cache(false);
sharp.block({ operation: ["VipsForeignLoad"] });
sharp.unblock({
  operation: [
    "VipsForeignLoadJpeg",
    "VipsForeignLoadPng",
    "VipsForeignLoadNsgif",
    "VipsForeignLoadWebp",
    "VipsForeignLoadTiff",
  ],
});

export interface DecodedImage {
  readonly orientation: number;
  readonly isCmyk: boolean;
  readonly is16Bit: boolean;
  readonly pixelBytes: number;
}

/** With `failOn: "error"` the decoding of a truncated or broken image fails. */
export function imageOptions(options: SharpOptions): SharpOptions {
  return { failOn: "error", limitInputPixels: false, sequentialRead: true, ...options };
}

/**
 * Decodes every pixel row by row and discards it. The caller has checked the dimensions; sharp's
 * pixel limit is off, because it counts an animation as one image.
 */
export async function decodeImage(file: OpenImage, layout: ImageLayout): Promise<DecodedImage> {
  const metadata = await readMetadata(file, layout);
  if (file.contentType === "image/tiff")
    for (let page = 0; page < layout.frames; page += 1) await decode(file, { page });
  else await decode(file, { pages: -1 });

  const is16Bit = metadata.depth === "ushort";
  return {
    orientation: orientationOf(metadata, layout),
    isCmyk: metadata.space === "cmyk",
    is16Bit,
    pixelBytes: metadata.channels * (is16Bit ? 2 : 1),
  };
}

/** @throws MediaRejected when type, width or height differ from what our parser found. */
export async function readMetadata(file: OpenImage, layout: ImageLayout): Promise<Metadata> {
  const metadata = await decoding(() => sharp(file.content, imageOptions({})).metadata());
  checkLayoutAgrees(file, metadata, layout);
  return metadata;
}

async function decode(file: OpenImage, options: SharpOptions): Promise<void> {
  await decoding(async () => {
    const image = sharp(file.content, imageOptions(options));
    if (file.contentType === "image/jpeg") {
      // libjpeg would shrink a JPEG while it loads and decode only an eighth of the pixels.
      const { width, height } = await image.metadata();
      image.extract({ left: 0, top: 0, width, height });
    }
    await image.resize(1, 1, { fit: "fill", kernel: "cubic" }).raw().toBuffer();
  });
  file.onProgress();
}

/** An error of the decoder rejects the file. */
export async function decoding<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const reason = error instanceof Error ? error.message.split("\n", 1)[0] : "";
    throw unreadable(`The image cannot be decoded: ${reason}`);
  }
}

/** Animations are upright. */
export function orientationOf({ orientation = 1 }: Metadata, { frames }: ImageLayout): number {
  if (frames !== 1) return 1;
  return orientation >= 1 && orientation <= 8 ? orientation : 1;
}

/** A platform may otherwise show an image that was not checked. */
function checkLayoutAgrees(
  { contentType }: OpenFile,
  metadata: Metadata,
  layout: ImageLayout,
): void {
  const isSame =
    `image/${metadata.format}` === contentType &&
    metadata.width === layout.width &&
    (metadata.pageHeight ?? metadata.height) === layout.height;
  if (!isSame) throw unreadable("The header of the image contradicts its content.");
}
