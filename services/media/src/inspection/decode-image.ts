import sharp, { type Metadata, type SharpOptions } from "sharp";
import type { ImageLayout } from "#src/domain/image-layout.ts";
import { unreadable } from "#src/domain/media-rejected.ts";
import type { OpenMedia } from "./inspect-file.ts";

// One picture at a time, no memory of the last, and none of the loaders that we do not need.
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

/** What the decoder found. */
export interface DecodedImage {
  /** 1 to 8, as EXIF counts. */
  readonly orientation: number;
  readonly isCmyk: boolean;
  readonly is16Bit: boolean;
  /** Bytes of a decoded pixel. */
  readonly pixelBytes: number;
}

/** Opens a file so that truncated and broken pictures fail. */
export function imageOptions(options: SharpOptions): SharpOptions {
  return { failOn: "error", limitInputPixels: false, sequentialRead: true, ...options };
}

/**
 * Decodes every pixel of every frame or page, row by row, and keeps none. The sizes were checked before: here `sharp` has
 * no limit of its own, because it counts the pixels of an animation as one picture.
 */
export async function decodeImage(file: OpenMedia, layout: ImageLayout): Promise<DecodedImage> {
  const metadata = await decoding(() => sharp(file.path, imageOptions({})).metadata());
  checkAgrees(file, metadata, layout);
  if (file.contentType === "image/tiff") {
    for (let page = 0; page < layout.frames; page += 1) await decode(file, { page });
  } else {
    await decode(file, { pages: -1 });
  }
  const is16Bit = metadata.depth === "ushort";
  return {
    orientation: layout.frames === 1 ? orientationOf(metadata) : 1,
    isCmyk: metadata.space === "cmyk",
    is16Bit,
    pixelBytes: metadata.channels * (is16Bit ? 2 : 1),
  };
}

async function decode(file: OpenMedia, options: SharpOptions): Promise<void> {
  await decoding(async () => {
    const image = sharp(file.path, imageOptions(options));
    if (file.contentType === "image/jpeg") {
      // A part that is the whole keeps libjpeg from decoding an eighth only.
      const { width, height } = await image.metadata();
      image.extract({ left: 0, top: 0, width, height });
    }
    await image.resize(1, 1, { fit: "fill", kernel: "cubic" }).raw().toBuffer();
  });
  file.onProgress();
}

/** What the decoder says of a file is the file's fault. */
async function decoding<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const reason = error instanceof Error ? error.message.split("\n", 1)[0] : "";
    throw unreadable(`The image cannot be decoded: ${reason}`);
  }
}

function orientationOf({ orientation = 1 }: Metadata): number {
  return orientation >= 1 && orientation <= 8 ? orientation : 1;
}

/** Two readers that see two pictures in one file: one of them is not what platforms will see. */
function checkAgrees({ contentType }: OpenMedia, metadata: Metadata, layout: ImageLayout): void {
  const isSame =
    `image/${metadata.format}` === contentType &&
    metadata.width === layout.width &&
    (metadata.pageHeight ?? metadata.height) === layout.height;
  if (!isSame) throw unreadable("The header of the image does not agree with its content.");
}
