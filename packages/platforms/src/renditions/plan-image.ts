import type { AnimationRules, ImageRules } from "#src/rules.ts";
import {
  type ImageFacts,
  type ImageFault,
  type ImageFit,
  type ImagePlan,
  isSizeTaken,
  ratioFault,
  type Rendition,
  renditionSize,
  type Size,
} from "./image-plan.ts";

const JPEG = "image/jpeg";
const PNG = "image/png";
const GIF = "image/gif";
/**
 * Types that the media service can convert. A compressed BMP is refused when its rendition is made.
 */
const CONVERTIBLE: ReadonlySet<string> = new Set([
  JPEG,
  PNG,
  GIF,
  "image/webp",
  "image/bmp",
  "image/tiff",
  "image/heic",
  "image/heif",
]);
/**
 * Types of which a file can be an animation. A TIFF with several pages is not an animation, but is
 * never converted either.
 */
const ANIMATED: ReadonlySet<string> = new Set([GIF, PNG, "image/webp", "image/avif"]);
/**
 * Upper bounds that no rendition exceeds: bytes per pixel, and the total bytes of very small
 * images. A platform's byte limit above these bounds is ignored, so that several platforms share
 * one rendition.
 */
const MAX_BYTES_PER_PIXEL = 4;
const ENOUGH_BYTES = 100_000;

const ORIGINAL: ImagePlan = { kind: "original" };

export function readImageFit(settings: Readonly<Record<string, unknown>>): ImageFit {
  const { imageFit } = settings;
  return imageFit === "pad" || imageFit === "crop" ? imageFit : "refuse";
}

/**
 * Plans what a platform receives of an image. The file is sent as it is when the platform takes it;
 * otherwise it is converted, if that keeps the whole image, or if `fit` allows white bars or cut
 * edges. A rendition complies with the rules. Equal needs of several platforms give equal
 * renditions.
 */
export function planImage(image: ImageFacts, rules: ImageRules, fit: ImageFit): ImagePlan {
  if (rules.role === "thumbnail") return refused({ code: "media_type_unsupported" });
  if (isAnimation(image, rules)) return planAnimation(image, rules);
  const size = sizeOf(image);
  if (size === undefined) return planUnmeasured(image, rules);
  return isTaken(image, size, rules) ? ORIGINAL : planRendition(image, size, rules, fit);
}

function isTaken({ contentType, bytes }: ImageFacts, size: Size, rules: ImageRules): boolean {
  return rules.types.includes(contentType) && bytes <= rules.maxBytes && isSizeTaken(size, rules);
}

function planRendition(image: ImageFacts, size: Size, rules: ImageRules, fit: ImageFit): ImagePlan {
  const { contentType, frames } = image;
  if (!CONVERTIBLE.has(contentType) || frames > 1) return refused(typeFault(rules));
  const fault = ratioFault(size, rules);
  if (fault !== undefined && fit === "refuse") return refused(fault);
  const result = renditionSize(size, rules, fit);
  if (!isSizeTaken(result, rules)) return refused(sizeFault(size, rules));
  const isWhole = fault === undefined || fit === "refuse";
  return {
    kind: "rendition",
    rendition: describe(image, rules, { ...result, fit: isWhole ? "scale" : fit }),
  };
}

/**
 * Whether an image is sent as an animation. A GIF with an unknown number of frames counts as an
 * animation if the platform shows GIFs.
 */
export function isAnimation({ contentType, frames }: ImageFacts, rules: ImageRules): boolean {
  if (frames === 0) return contentType === GIF && !rules.types.includes(GIF);
  return frames > 1 && ANIMATED.has(contentType);
}

function describe(
  { contentType, bytes }: ImageFacts,
  { types, maxBytes }: ImageRules,
  shape: Pick<Rendition, "width" | "height" | "fit">,
): Rendition {
  const isGraphic = contentType === PNG || contentType === GIF;
  // A PNG keeps its transparent parts. A PNG above the byte limit becomes a JPEG, which is far
  // smaller.
  const isPng = isGraphic && types.includes(PNG) && bytes <= maxBytes;
  const enoughBytes = Math.max(ENOUGH_BYTES, MAX_BYTES_PER_PIXEL * shape.width * shape.height);
  return {
    contentType: isPng ? PNG : JPEG,
    ...shape,
    maxBytes: Math.min(maxBytes, enoughBytes),
  };
}

/**
 * An image of an unknown size is never converted, because the size of a rendition depends on it.
 */
function planUnmeasured({ contentType, bytes }: ImageFacts, rules: ImageRules): ImagePlan {
  const { types, maxBytes } = rules;
  if (!types.includes(contentType)) return refused(typeFault(rules));
  return bytes <= maxBytes ? ORIGINAL : refused(bytesFault(bytes, maxBytes));
}

function planAnimation(image: ImageFacts, rules: ImageRules): ImagePlan {
  const { animation } = rules;
  if (animation?.types.includes(image.contentType) !== true) return refused(animationFault(rules));
  const faults = animationFaults(image, animation);
  return faults.length === 0 ? ORIGINAL : { kind: "refused", faults };
}

/**
 * Where a platform shows no animated pictures, an animation can be sent as a video, as the
 * platform's own clients do.
 */
function animationFault(rules: ImageRules): ImageFault {
  const fault = typeFault(rules);
  return rules.animation === undefined
    ? { ...fault, fits: `${fault.fits}; video/mp4 (animation)` }
    : fault;
}

function animationFaults(image: ImageFacts, rules: AnimationRules): ImageFault[] {
  const { maxBytes, maxWidth, maxHeight, maxFrames, maxPixels } = rules;
  const size = sizeOf(image);
  const pixels = size === undefined ? null : size.width * size.height * image.frames;
  return [
    ...(image.bytes > maxBytes ? [bytesFault(image.bytes, maxBytes)] : []),
    ...above(image.width, maxWidth, `width ≤ ${maxWidth} px`),
    ...above(image.height, maxHeight, `height ≤ ${maxHeight} px`),
    ...above(image.frames, maxFrames, `frames ≤ ${maxFrames}`),
    ...above(pixels, maxPixels, `width × height × frames ≤ ${maxPixels}`),
  ];
}

function above(actual: number | null, limit: number | undefined, fits: string): ImageFault[] {
  if (actual === null || limit === undefined || actual <= limit) return [];
  return [{ code: "media_dimensions", limit, actual, fits }];
}

function refused(...faults: readonly ImageFault[]): ImagePlan {
  return { kind: "refused", faults };
}

function bytesFault(actual: number, limit: number): ImageFault {
  return { code: "media_too_large", limit, actual };
}

function typeFault({ types, animation }: ImageRules): ImageFault {
  const still = `${types.join(", ")} (1 frame)`;
  const fits = animation === undefined ? still : `${animation.types.join(", ")}; ${still}`;
  return { code: "media_type_unsupported", fits };
}

function sizeFault({ width, height }: Size, rules: ImageRules): ImageFault {
  const { minWidth = 1 } = rules;
  const fits = `width ≥ ${minWidth} px`;
  return { code: "media_dimensions", limit: minWidth, actual: Math.min(width, height), fits };
}

function sizeOf({ width, height }: ImageFacts): Size | undefined {
  return width === null || height === null ? undefined : { width, height };
}
