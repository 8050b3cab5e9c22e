import { PLATFORM_FACTS } from "@postrider/platforms/registry";
import { isAnimation, planImage, readImageFit } from "@postrider/platforms/renditions/plan-image";
import { planVideo } from "@postrider/platforms/renditions/plan-video";
import { altTextLimit, type PlatformRules, type VideoRules } from "@postrider/platforms/rules";
import { UNIT_NAMES } from "@postrider/platforms/text/unit-names";
import type { TargetInput, TargetMedia, TargetViolation } from "./post.ts";

/** An image that the media service can convert to what the platform takes has no violation. */
export function validateMedia(
  { platform, media, settings = {}, available }: TargetInput,
  rules: PlatformRules,
): TargetViolation[] {
  const { maxVideoSeconds } = PLATFORM_FACTS[platform].offer?.read(available, settings) ?? {};
  return [
    ...validateCount(media, rules),
    ...validateMix(media, rules),
    ...media.flatMap((item, index) => {
      if (item.kind === "video") return validateVideo(item, index, rules.video, maxVideoSeconds);
      // If a platform uses images only as thumbnails of videos, a post needs a video instead.
      if (rules.image.role === "thumbnail") return validateType(item, index, rules.video.types);
      const plan = planImage(item, rules.image, readImageFit(settings));
      if (plan.kind !== "refused") return [];
      return plan.faults.map((fault) => ({ ...fault, field: "media" as const, index }));
    }),
    ...media.flatMap((item, index) => validateAltText(item, index, rules)),
  ];
}

function validateCount(media: readonly TargetMedia[], rules: PlatformRules): TargetViolation[] {
  const { required, min, max, maxVideos } = rules.media;
  if (media.length === 0)
    return required ? [{ code: "media_required", field: "media", limit: min, actual: 0 }] : [];

  const tooMany = { code: "too_many_media", field: "media" } as const;
  if (media.length > max) return [{ ...tooMany, limit: max, actual: media.length }];
  const videos = media.filter(({ kind }) => kind === "video").length;
  const animations = media.filter((item) => isShownAnimation(item, rules)).length;
  return [
    ...below({ code: "too_few_media", field: "media" }, media.length, min),
    ...above(tooMany, videos, maxVideos),
    ...above(tooMany, animations, rules.image.animation?.maxPerPost),
  ];
}

/** Where a platform shows animations, an animation excludes all other media. */
function validateMix(media: readonly TargetMedia[], rules: PlatformRules): TargetViolation[] {
  const slots = new Set(
    media.map((item) => (isShownAnimation(item, rules) ? "animation" : item.kind)),
  );
  const mixed = slots.size > 1 && (slots.has("animation") || !rules.media.mixImageVideo);
  return mixed ? [{ code: "media_mix_unsupported", field: "media" }] : [];
}

function isShownAnimation(item: TargetMedia, { image }: PlatformRules): boolean {
  return image.animation !== undefined && item.kind === "image" && isAnimation(item, image);
}

function validateVideo(
  item: TargetMedia,
  index: number,
  rules: VideoRules,
  offeredSeconds: number | undefined,
): TargetViolation[] {
  const plan = planVideo(item, rules);
  const faults = plan.kind === "refused" ? plan.faults : [];
  return [
    ...faults.map((fault) => ({ ...fault, field: "media" as const, index })),
    ...above({ code: "media_too_large", field: "media", index }, item.bytes, rules.maxBytes),
    ...validateVideoSize(item, index, rules),
    ...validateDuration(item, index, rules, offeredSeconds),
  ];
}

function validateVideoSize(
  { width, height }: TargetMedia,
  index: number,
  { minPixels, maxPixels, minRatio, maxRatio }: VideoRules,
): TargetViolation[] {
  if (width === null || height === null) return [];
  const ratio = { code: "media_dimensions", field: "media", index } as const;
  const fits = `width, height ${minPixels ?? 1}–${maxPixels ?? "∞"} px`;
  const violation = { code: "media_dimensions", field: "media", index, fits } as const;
  return [
    ...below(violation, Math.min(width, height), minPixels),
    ...above(violation, Math.max(width, height), maxPixels),
    ...below({ ...ratio, fits: `width / height ≥ ${minRatio}` }, width / height, minRatio),
    ...above({ ...ratio, fits: `width / height ≤ ${maxRatio}` }, width / height, maxRatio),
  ];
}

function validateDuration(
  { durationMs }: TargetMedia,
  index: number,
  { minSeconds, maxSeconds = Infinity }: VideoRules,
  offeredSeconds = Infinity,
): TargetViolation[] {
  if (durationMs === null) return [];
  const max = Math.min(maxSeconds, offeredSeconds);
  const fits = `${minSeconds ?? 0}–${max === Infinity ? "∞" : max} s`;
  const violation = { code: "media_duration", field: "media", index, fits } as const;
  // A platform that says how long the videos of an account may be counts whole seconds.
  const seconds = durationMs / 1000;
  const counted = max < maxSeconds ? Math.floor(seconds) : seconds;
  return [...below(violation, seconds, minSeconds), ...above(violation, counted, max)];
}

/** Checks the description of a media item. A platform without descriptions ignores it. */
function validateAltText(
  { kind, altText }: TargetMedia,
  index: number,
  rules: PlatformRules,
): TargetViolation[] {
  const unit = UNIT_NAMES.utf16;
  const violation = { code: "alt_text_too_long", field: "media", index, unit } as const;
  return above(violation, altText?.length ?? 0, altTextLimit(rules, kind));
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
  const fits = types.join(", ");
  return taken ? [] : [{ code: "media_type_unsupported", field: "media", index, fits }];
}

/** An undefined limit allows every value. */
export function above(
  violation: Pick<TargetViolation, "code" | "field" | "index" | "fits" | "unit">,
  actual: number,
  limit: number | undefined,
): TargetViolation[] {
  return limit !== undefined && actual > limit ? [{ ...violation, limit, actual }] : [];
}

/** An undefined limit allows every value. */
function below(
  violation: Pick<TargetViolation, "code" | "field" | "index" | "fits">,
  actual: number,
  limit: number | undefined,
): TargetViolation[] {
  return limit !== undefined && actual < limit ? [{ ...violation, limit, actual }] : [];
}
