import type { ImageRules, PlatformRules, VideoRules } from "@postrider/platforms/rules";
import type { TargetInput, TargetMedia, TargetViolation } from "./post.ts";

/**
 * Checks the media of a post against the rules of one platform: their number, their combination and each media item.
 */
export function validateMedia({ media }: TargetInput, rules: PlatformRules): TargetViolation[] {
  return [
    ...validateCount(media, rules),
    ...validateMix(media, rules),
    ...media.flatMap((item, index) =>
      item.kind === "image"
        ? validateImage(item, index, rules.image)
        : validateVideo(item, index, rules.video),
    ),
  ];
}

function validateCount(media: readonly TargetMedia[], rules: PlatformRules): TargetViolation[] {
  const { required, min, max, maxVideos } = rules.media;
  if (media.length === 0) {
    return required ? [{ code: "media_required", field: "media", limit: min, actual: 0 }] : [];
  }
  const tooMany = { code: "too_many_media", field: "media" } as const;
  if (media.length > max) return [{ ...tooMany, limit: max, actual: media.length }];
  const videos = media.filter(({ kind }) => kind === "video").length;
  return [
    ...below({ code: "too_few_media", field: "media" }, media.length, min),
    ...above(tooMany, videos, maxVideos),
    ...above(tooMany, media.filter(isGif).length, rules.image.maxGifs),
  ];
}

/**
 * Checks which kinds of media a post combines. Where a platform limits GIFs, a GIF excludes all other media.
 */
function validateMix(media: readonly TargetMedia[], rules: PlatformRules): TargetViolation[] {
  const slots = new Set(
    media.map((item) => (rules.image.maxGifs !== undefined && isGif(item) ? "gif" : item.kind)),
  );
  const mixed = slots.size > 1 && (slots.has("gif") || !rules.media.mixImageVideo);
  return mixed ? [{ code: "media_mix_unsupported", field: "media" }] : [];
}

function validateImage(item: TargetMedia, index: number, rules: ImageRules): TargetViolation[] {
  // If a platform accepts images only as thumbnails of videos, a post with an image is refused.
  const types = rules.role === "thumbnail" ? [] : rules.types;
  const maxBytes = isGif(item) ? (rules.gifMaxBytes ?? rules.maxBytes) : rules.maxBytes;
  return [
    ...validateType(item, index, types),
    ...above({ code: "media_too_large", field: "media", index }, item.bytes, maxBytes),
    ...validateImageSize(item, index, rules),
  ];
}

function validateImageSize(
  { width, height }: TargetMedia,
  index: number,
  rules: ImageRules,
): TargetViolation[] {
  if (width === null || height === null) return [];
  const violation = { code: "media_dimensions", field: "media", index } as const;
  return [
    ...below(violation, width, rules.minWidth),
    ...below(violation, width / height, rules.minRatio),
    ...above(violation, width / height, rules.maxRatio),
    ...above(violation, width + height, rules.maxWidthPlusHeight),
    ...above(violation, Math.max(width / height, height / width), rules.maxAspect),
  ];
}

function validateVideo(item: TargetMedia, index: number, rules: VideoRules): TargetViolation[] {
  return [
    ...validateType(item, index, rules.types),
    ...above({ code: "media_too_large", field: "media", index }, item.bytes, rules.maxBytes),
    ...validateVideoSize(item, index, rules),
    ...validateDuration(item, index, rules),
  ];
}

function validateVideoSize(
  { width, height }: TargetMedia,
  index: number,
  rules: VideoRules,
): TargetViolation[] {
  if (width === null || height === null) return [];
  const violation = { code: "media_dimensions", field: "media", index } as const;
  return [
    ...below(violation, Math.min(width, height), rules.minPixels),
    ...above(violation, Math.max(width, height), rules.maxPixels),
  ];
}

function validateDuration(
  { durationMs }: TargetMedia,
  index: number,
  rules: VideoRules,
): TargetViolation[] {
  if (durationMs === null) return [];
  const violation = { code: "media_duration", field: "media", index } as const;
  return [
    ...below(violation, durationMs / 1000, rules.minSeconds),
    ...above(violation, durationMs / 1000, rules.maxSeconds),
  ];
}

function validateType(
  { contentType }: TargetMedia,
  index: number,
  types: readonly string[],
): TargetViolation[] {
  const taken = types.some(
    (type) =>
      type === contentType || (type.endsWith("/*") && contentType.startsWith(type.slice(0, -1))),
  );
  return taken ? [] : [{ code: "media_type_unsupported", field: "media", index }];
}

function isGif({ contentType }: TargetMedia): boolean {
  return contentType === "image/gif";
}

/** Returns a violation of a platform's rule if `actual` is above `limit`. An undefined limit allows every value. */
export function above(
  violation: Pick<TargetViolation, "code" | "field" | "index">,
  actual: number,
  limit: number | undefined,
): TargetViolation[] {
  return limit !== undefined && actual > limit ? [{ ...violation, limit, actual }] : [];
}

/** Returns a violation of a platform's rule if `actual` is below `limit`. An undefined limit allows every value. */
function below(
  violation: Pick<TargetViolation, "code" | "field" | "index">,
  actual: number,
  limit: number | undefined,
): TargetViolation[] {
  return limit !== undefined && actual < limit ? [{ ...violation, limit, actual }] : [];
}
