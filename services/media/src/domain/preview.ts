import type { RenditionPlan } from "#src/domain/rendition-plan.ts";
import type { StoredMedia } from "#src/domain/stored-media.ts";

/** The longest side, in pixels: enough for a tile of a list on a dense screen. */
const SIDE = 480;
const MAX_BYTES = 60_000;
/** Pattern of the plans of previews: no platform needs a file as small. */
export const PREVIEW_PLANS = `% ${MAX_BYTES}`;
/** Every browser shows these. */
const SHOWN_TYPES: ReadonlySet<string> = new Set([
  "image/jpeg",
  "image/png",
  "image/gif",
  "image/webp",
]);

type Previewed = Pick<
  StoredMedia,
  "kind" | "width" | "height" | "deliveryBytes" | "deliveryContentType"
>;

/**
 * What shows media in lists: the delivery file itself if it is small, otherwise an image to be made
 * from it; undefined for a video.
 */
export function previewOf(media: Previewed): "delivery" | RenditionPlan | undefined {
  const { kind, width, height, deliveryBytes, deliveryContentType } = media;
  if (kind !== "image" || width === null || height === null) return undefined;
  const isSmall = deliveryBytes !== null && deliveryBytes <= MAX_BYTES;
  if (isSmall && SHOWN_TYPES.has(deliveryContentType ?? "")) return "delivery";
  const factor = Math.min(1, SIDE / Math.max(width, height));
  const scaled = (side: number) => Math.max(1, Math.round(side * factor));
  return {
    contentType: "image/jpeg",
    width: scaled(width),
    height: scaled(height),
    fit: "scale",
    maxBytes: MAX_BYTES,
  };
}
