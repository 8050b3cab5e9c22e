import { createHash } from "node:crypto";
import { ftruncateSync } from "node:fs";
import sharp, { type Sharp } from "sharp";
import { createTiffHeader } from "#src/domain/images/tiff-header.ts";
import type { InspectedMedia } from "#src/domain/inspected-media.ts";
import { OUTPUT_FD } from "#src/inspection/inspection-protocol.ts";
import { decoding, imageOptions } from "./decode-image.ts";
import { HeifImage } from "./heif-image.ts";
import { pixelBudget } from "./image-layouts.ts";
import { openImage } from "./inspect-image.ts";
import { hashFile, type OpenFile, OutputFile } from "./open-file.ts";

/** The image library can open a file only by its path. */
const DECODED = `/dev/fd/${OUTPUT_FD}`;
const QUALITY = 92;
/** What a rotated image and the HEIC decoder may use together. */
const ROTATION_SHARE = 5 / 6;

/** A TIFF in `OUTPUT_FD`. */
interface DecodedHeif {
  readonly width: number;
  readonly height: number;
  readonly orientation: number;
  readonly heldBytes: number;
}

/**
 * Writes the picture as an upright JPEG in full size, in sRGB and without metadata, because
 * platforms do not take HEIC.
 */
export async function inspectHeif(file: OpenFile): Promise<InspectedMedia> {
  const { content } = openImage(file);
  const { sha256 } = await hashFile(file);
  const decoded = await decoding(() => decodeToTiff(content, file.onProgress));
  const jpeg = await decoding(() => encodeJpeg(decoded, pixelBudget(file.limits)).toBuffer());
  file.onProgress();
  ftruncateSync(OUTPUT_FD, 0);
  new OutputFile().append(jpeg);
  const swapsSides = decoded.orientation >= 5;
  return {
    kind: "image",
    contentType: file.contentType,
    bytes: file.bytes,
    sha256,
    width: swapsSides ? decoded.height : decoded.width,
    height: swapsSides ? decoded.width : decoded.height,
    durationMs: null,
    frames: 1,
    delivery: {
      kind: "rewritten",
      path: "",
      contentType: "image/jpeg",
      bytes: jpeg.length,
      sha256: createHash("sha256").update(jpeg).digest("hex"),
    },
  };
}

/** Row by row into a TIFF, which the image library reads without having it in memory as a whole. */
async function decodeToTiff(content: Buffer, onProgress: () => void): Promise<DecodedHeif> {
  const image = new HeifImage(content);
  const { crop, orientation, samples } = image;
  const { width, height } = crop;
  const profile = image.readProfile();
  const output = new OutputFile();
  output.append(
    createTiffHeader({
      width,
      height,
      samples,
      orientation,
      profile: profile === "display-p3" ? await readDisplayP3() : (profile ?? new Uint8Array()),
    }),
  );
  for (const rows of image.decode()) {
    output.append(rows);
    onProgress();
  }
  return { width, height, orientation, heldBytes: image.heldBytes };
}

/** The image library has this ICC profile. */
async function readDisplayP3(): Promise<Uint8Array> {
  const pixel = sharp({ create: { width: 1, height: 1, channels: 3, background: "black" } });
  const { icc } = await sharp(await pixel.withIccProfile("p3").png().toBuffer()).metadata();
  return icc ?? new Uint8Array();
}

function encodeJpeg(decoded: DecodedHeif, budgetBytes: number): Sharp {
  const { width, height, orientation, heldBytes } = decoded;
  const image = sharp(DECODED, imageOptions({})).flatten({ background: "white" });
  // An image is rotated in memory; one that is too large keeps its orientation as the only EXIF
  // tag.
  const fits = 3 * width * height + heldBytes <= ROTATION_SHARE * budgetBytes;
  if (orientation !== 1 && !fits) image.withExif({ IFD0: { Orientation: String(orientation) } });
  else image.autoOrient();
  return image.toColourspace("srgb").jpeg({ quality: QUALITY, optimiseCoding: false });
}
