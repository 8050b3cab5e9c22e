import { readSync } from "node:fs";
import type { ImageLayout } from "#src/domain/images/image-layout.ts";
import type { InspectedMedia, Delivery } from "#src/domain/inspected-media.ts";
import { OUTPUT_FD } from "#src/inspection/inspection-protocol.ts";
import { decodeImage, type DecodedImage } from "./decode-image.ts";
import { hashFile } from "./hash-file.ts";
import { pixelBudget, readLayout } from "./image-layouts.ts";
import type { OpenFile, OpenImage } from "./open-file.ts";
import { rewriteImage } from "./rewrite-image.ts";
import { writeParts } from "./write-parts.ts";

/** Reads an image file into memory. */
export function openImage(file: OpenFile): OpenImage {
  const content = Buffer.alloc(file.bytes);
  if (readSync(file.fd, content, 0, file.bytes, 0) !== file.bytes) {
    throw new Error("the file changed while it was read");
  }
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
