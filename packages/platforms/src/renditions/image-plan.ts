import type { ImageRules } from "#src/rules.ts";

/** Properties of the file that platforms receive when no rendition is needed. */
export interface ImageFacts {
  readonly contentType: string;
  readonly bytes: number;
  /** Width of the upright image; null if it is not known. */
  readonly width: number | null;
  readonly height: number | null;
  /** Number of frames, more than 1 for an animation; 0 when it is not known. */
  readonly frames: number;
}

/**
 * What is done with an image whose aspect ratio a platform does not take: refuse it, add white
 * bars, or cut off its edges.
 */
export type ImageFit = "refuse" | "pad" | "crop";

export interface Rendition {
  readonly contentType: "image/jpeg" | "image/png" | "video/mp4";
  readonly width: number;
  readonly height: number;
  /**
   * `scale`: the whole image in this size. `pad`: the whole image on white. `crop`: the centre of
   * the image.
   */
  readonly fit: "scale" | "pad" | "crop";
  readonly maxBytes: number;
}

export interface ImageFault {
  readonly code: "media_type_unsupported" | "media_too_large" | "media_dimensions";
  readonly limit?: number;
  readonly actual?: number;
  /**
   * A value that the platform would take instead, for example `image/jpeg (1 frame)`, in symbols
   * that need no translation.
   */
  readonly fits?: string;
}

export type ImagePlan =
  | { readonly kind: "original" }
  | { readonly kind: "rendition"; readonly rendition: Rendition }
  | { readonly kind: "refused"; readonly faults: readonly ImageFault[] };

export interface Size {
  readonly width: number;
  readonly height: number;
}

/**
 * How far an aspect ratio may be outside a platform's limits, as a share of the limit, before an
 * image counts as outside. Such an image is scaled to the limit, which changes its proportions
 * invisibly: 1200 x 628 pixels are meant to be 1.91:1.
 */
const RATIO_SLACK = 0.01;

type RatioRules = Pick<ImageRules, "minRatio" | "maxRatio" | "maxAspect">;

interface RatioBounds {
  readonly min: number;
  readonly max: number;
}

function ratioBounds({ minRatio = 0, maxRatio = Infinity, maxAspect = Infinity }: RatioRules) {
  return { min: Math.max(minRatio, 1 / maxAspect), max: Math.min(maxRatio, maxAspect) };
}

export function isSizeTaken({ width, height }: Size, rules: ImageRules): boolean {
  const { min, max } = ratioBounds(rules);
  const { minWidth = 1, maxLongSide = Infinity, maxShortSide = Infinity } = rules;
  return (
    width >= minWidth &&
    width / height >= min &&
    width / height <= max &&
    Math.max(width, height) <= maxLongSide &&
    Math.min(width, height) <= maxShortSide &&
    width + height <= (rules.maxWidthPlusHeight ?? Infinity)
  );
}

const OTHER_RATIOS = 'imageFit "pad" | "crop": PATCH /accounts/{accountId}/settings';

export function ratioFault({ width, height }: Size, rules: RatioRules): ImageFault | undefined {
  const { minRatio, maxRatio, maxAspect } = rules;
  const ratio = width / height;
  const aspect = Math.max(ratio, 1 / ratio);
  const code = "media_dimensions";
  const fits = `width / height ${minRatio ?? 0}–${maxRatio ?? "∞"}; ${OTHER_RATIOS}`;
  if (minRatio !== undefined && ratio < minRatio * (1 - RATIO_SLACK))
    return { code, limit: minRatio, actual: ratio, fits };
  if (maxRatio !== undefined && ratio > maxRatio * (1 + RATIO_SLACK))
    return { code, limit: maxRatio, actual: ratio, fits };
  if (maxAspect !== undefined && aspect > maxAspect * (1 + RATIO_SLACK))
    return {
      code,
      limit: maxAspect,
      actual: aspect,
      fits: `long side / short side ≤ ${maxAspect}`,
    };
  return undefined;
}

function fitCanvas({ width, height }: Size, { min, max }: RatioBounds, fit: ImageFit): Size {
  const ratio = width / height;
  if (ratio < min)
    return fit === "pad" ? { width: height * min, height } : { width, height: width / min };
  if (ratio > max)
    return fit === "pad" ? { width, height: width / max } : { width: height * max, height };
  return { width, height };
}

function shrinkFactor({ width, height }: Size, rules: ImageRules): number {
  const { usefulSize, maxLongSide, maxShortSide, maxWidthPlusHeight } = rules;
  const factors = [
    [usefulSize?.width, width],
    [usefulSize?.height, height],
    [maxLongSide, Math.max(width, height)],
    [maxShortSide, Math.min(width, height)],
    [maxWidthPlusHeight, width + height],
  ].map(([limit = Infinity, actual = 1]) => limit / actual);
  return Math.min(1, ...factors);
}

/**
 * Enlarged only up to the platform's minimum width. The aspect ratio of the source has been
 * checked, or `fit` says how it is changed.
 */
export function renditionSize(source: Size, rules: ImageRules, fit: ImageFit): Size {
  const bounds = ratioBounds(rules);
  const isInside = ratioFault(source, rules) === undefined;
  const canvas = isInside ? source : fitCanvas(source, bounds, fit);
  const { minWidth = 1 } = rules;
  const factor = Math.max(shrinkFactor(canvas, rules), minWidth / canvas.width);
  return withinLimits(
    {
      width: Math.max(1, Math.round(canvas.width * factor)),
      height: Math.max(1, Math.round(canvas.height * factor)),
    },
    bounds,
    rules,
  );
}

function withinLimits(size: Size, { min, max }: RatioBounds, rules: ImageRules): Size {
  let { width, height } = size;
  if (width + height > (rules.maxWidthPlusHeight ?? Infinity))
    if (width > height) width -= 1;
    else height -= 1;

  if (width / height < min) height = Math.max(1, Math.floor(width / min));
  // A lower width would undo the enlargement to the minimum width, so the height grows instead.
  if (width / height > max) {
    const narrower = Math.floor(height * max);
    if (narrower >= (rules.minWidth ?? 1)) width = narrower;
    else height = Math.ceil(width / max);
  }
  return { width, height };
}
