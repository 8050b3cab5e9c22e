import type { PlatformId } from "@postrider/platforms/registry";

/** The part of a target's input that a violation is about. */
export type TargetField = "content" | "title" | "privacy" | "tags" | "media";

/** Every reason for which a platform would refuse a target's input. */
export type TargetViolationCode =
  | "content_required"
  | "content_too_long"
  | "too_many_hashtags"
  | "too_many_mentions"
  | "media_required"
  | "too_few_media"
  | "too_many_media"
  | "media_mix_unsupported"
  | "media_type_unsupported"
  | "media_too_large"
  | "media_dimensions"
  | "media_duration"
  | "title_required"
  | "title_too_long"
  | "title_unsupported"
  | "privacy_required"
  | "privacy_unsupported"
  | "tags_unsupported"
  | "tags_too_long"
  | "forbidden_characters";

/**
 * One reason why a platform would refuse a target. `limit` and `actual` share a unit: the platform's text unit, bytes,
 * pixels, a ratio, seconds or a number of items. `index` is the place in the list of media.
 */
export interface TargetViolation {
  readonly code: TargetViolationCode;
  readonly field: TargetField;
  readonly limit?: number;
  readonly actual?: number;
  readonly index?: number;
}

/** A medium as far as platforms have rules about it. Sizes that are not known are null and not judged. */
export interface TargetMedia {
  readonly kind: "image" | "video";
  readonly contentType: string;
  readonly bytes: number;
  readonly width: number | null;
  readonly height: number | null;
  readonly durationMs: number | null;
}

/** What one account is asked to publish, with its overrides already applied. */
export interface TargetInput {
  readonly platform: PlatformId;
  readonly text: string;
  readonly title?: string | undefined;
  readonly privacy?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly media: readonly TargetMedia[];
}

/** The violation, when `actual` is above `limit`; no limit allows everything. */
export function above(
  violation: Pick<TargetViolation, "code" | "field" | "index">,
  actual: number,
  limit: number | undefined,
): TargetViolation[] {
  return limit !== undefined && actual > limit ? [{ ...violation, limit, actual }] : [];
}

/** The violation, when `actual` is below `limit`; no limit allows everything. */
export function below(
  violation: Pick<TargetViolation, "code" | "field" | "index">,
  actual: number,
  limit: number | undefined,
): TargetViolation[] {
  return limit !== undefined && actual < limit ? [{ ...violation, limit, actual }] : [];
}
