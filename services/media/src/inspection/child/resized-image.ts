import sharp, { type Sharp } from "sharp";
import type { RenditionPlan } from "#src/domain/rendition-plan.ts";
import { imageOptions } from "./decode-image.ts";
import type { RenderSource } from "./open-render-source.ts";

export interface Size {
  readonly width: number;
  readonly height: number;
}

export interface ResizedImage {
  readonly size: Size;
  readonly encode: (quality: number) => Promise<Buffer>;
}

const WHITE = { r: 255, g: 255, b: 255, alpha: 1 };
const FITS = { scale: "fill", pad: "contain", crop: "cover" } as const;
/** A PNG needs more memory besides, because its file may become as large as its pixels. */
const PIXEL_SHARES = { jpeg: 0.5, png: 0.4 } as const;

/**
 * Converts to 8 bit sRGB without metadata and keeps the pixels, so that they can be encoded in
 * several qualities. A JPEG with too many pixels for that is decoded again for each quality. If the
 * image has to be rotated, or becomes a PNG, the pixels must be in memory; a rendition that is too
 * large for that gets a smaller size.
 */
export async function openResized(
  source: RenderSource,
  plan: RenditionPlan,
  wanted: Size,
): Promise<ResizedImage> {
  const maxPixels = maxPixelsInMemory(source, plan);
  const fits = wanted.width * wanted.height <= maxPixels;
  if (fits) return await openInMemory(source, plan, wanted);
  if (plan.contentType === "image/jpeg" && source.orientation === 1)
    return {
      size: wanted,
      encode: async (quality) =>
        await encode(resize(source, plan, wanted), plan, quality).toBuffer(),
    };
  const factor = Math.sqrt(maxPixels / (wanted.width * wanted.height));
  const side = (pixels: number) => Math.max(1, Math.floor(pixels * factor));
  return await openInMemory(source, plan, {
    width: side(wanted.width),
    height: side(wanted.height),
  });
}

function maxPixelsInMemory({ budgetBytes, layout }: RenderSource, { contentType }: RenditionPlan) {
  const pixelShare = contentType === "image/png" ? PIXEL_SHARES.png : PIXEL_SHARES.jpeg;
  const bytes = Math.min(pixelShare * budgetBytes, budgetBytes - layout.decodeBytes);
  const pixelBytes = contentType === "image/jpeg" ? 3 : 4;
  return Math.max(1, Math.floor(bytes / pixelBytes));
}

interface Pixels {
  readonly key: string;
  readonly data: Buffer;
  readonly raw: { readonly width: number; readonly height: number; readonly channels: Channels };
}

type Channels = 1 | 2 | 3 | 4;

/** The next rendition uses them if only its maximum length differs. */
let last: Pixels | undefined;
/**
 * The whole picture in the first size, which is the largest. Much smaller renditions are made of
 * it.
 */
let whole: Pixels | undefined;
/** With a smaller ratio, resizing twice would lose detail. */
const REDUCTION = 1.5;

async function openInMemory(
  source: RenderSource,
  plan: RenditionPlan,
  size: Size,
): Promise<ResizedImage> {
  const key = `${plan.contentType} ${plan.fit} ${size.width}x${size.height}`;
  if (last?.key !== key) {
    // The previous pixels must be freed before the next are decoded.
    last = undefined;
    globalThis.gc?.();
    last = await readPixels(source, plan, size, key);
    if (plan.fit === "scale") whole ??= last;
    source.onProgress();
  }
  const { data, raw } = last;
  return {
    size,
    encode: async (quality) => {
      const pixels = sharp(data, { raw, sequentialRead: false });
      return await encode(turnUpright(pixels, source.orientation), plan, quality).toBuffer();
    },
  };
}

async function readPixels(
  source: RenderSource,
  plan: RenditionPlan,
  size: Size,
  key: string,
): Promise<Pixels> {
  const image = resize(source, plan, size, findWhole(source, plan, size)).raw();
  const { data, info } = await image.toBuffer({ resolveWithObject: true });
  const { width, height, channels } = info;
  return { key, data, raw: { width, height, channels } };
}

/** Undefined when the pixels are too small for this rendition. */
function findWhole(
  { orientation }: RenderSource,
  { contentType }: RenditionPlan,
  size: Size,
): Pixels | undefined {
  if (whole === undefined || !whole.key.startsWith(`${contentType} `)) return undefined;
  const [width, height] = asStored(size, orientation);
  const { raw } = whole;
  return raw.width >= REDUCTION * width && raw.height >= REDUCTION * height ? whole : undefined;
}

/** Swapped when the orientation swaps the sides. */
function asStored({ width, height }: Size, orientation: number): readonly [number, number] {
  return orientation >= 5 ? [height, width] : [width, height];
}

/** From the file, or from the pixels of the whole picture. */
function resize(
  { content, orientation }: RenderSource,
  plan: RenditionPlan,
  size: Size,
  from?: Pixels,
): Sharp {
  const [width, height] = asStored(size, orientation);
  const image =
    from === undefined
      ? sharp(content, imageOptions({}))
      : sharp(from.data, { raw: from.raw, sequentialRead: false });
  // Platforms show transparent parts black otherwise.
  if (plan.contentType === "image/jpeg") image.flatten({ background: WHITE });
  return image
    .resize(width, height, { fit: FITS[plan.fit], background: WHITE })
    .toColourspace("srgb");
}

/** CIPA DC-008, section 4.6.4; sharp mirrors before it rotates. */
function turnUpright(image: Sharp, orientation: number): Sharp {
  const { angle, flip, flop } = TURNS[orientation] ?? { angle: 0 };
  if (angle !== 0) image.rotate(angle);
  return image.flip(flip === true).flop(flop === true);
}

const TURNS: Readonly<Record<number, { angle: number; flip?: true; flop?: true }>> = {
  2: { angle: 0, flop: true },
  3: { angle: 180 },
  4: { angle: 0, flip: true },
  5: { angle: 90, flip: true },
  6: { angle: 90 },
  7: { angle: 270, flip: true },
  8: { angle: 270 },
};

function encode(image: Sharp, { contentType }: RenditionPlan, quality: number): Sharp {
  if (contentType === "image/png") return image.png({ compressionLevel: 6 });
  // With `optimiseCoding` the encoder needs the coefficients of the whole image in memory.
  return image.jpeg({ quality, optimiseCoding: false });
}
