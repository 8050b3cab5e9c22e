import type { PlatformId } from "@postrider/platforms/platform-id";
import type { VideoEncoding } from "@postrider/platforms/renditions/plan-video";
import type { SettingValues } from "@postrider/platforms/settings/read-settings";
import type { UnitName } from "@postrider/platforms/text/unit-names";

export const MAX_ACCOUNTS = 100;
export const MAX_MEDIA = 35;

/** An absent field is not overridden. */
export interface PostOption {
  readonly content?: string;
  readonly title?: string;
  readonly privacy?: string;
  /** An empty list of tags replaces the tags of the post; an absent field keeps them. */
  readonly tags?: readonly string[];
}

/** Keys are platform ids or account ids. */
export type PostOptions = Readonly<Record<string, PostOption>>;

export interface PostContent {
  readonly content: string;
  readonly accountIds: readonly string[];
  readonly mediaIds: readonly string[];
  readonly options: PostOptions;
}

/** The scheduled time of a draft is stored but has no effect. */
export type PostTiming =
  | { readonly kind: "draft"; readonly scheduledAt: Date | null }
  | { readonly kind: "now" }
  | { readonly kind: "scheduled"; readonly scheduledAt: Date }
  | { readonly kind: "queue_slot" };

export interface PostAccount {
  readonly id: string;
  readonly platform: PlatformId;
  readonly username: string;
  readonly status: "active" | "reconnect_required";
  /** The settings that the workspace chose for the account; absent = all have their defaults. */
  readonly settings?: SettingValues | undefined;
  /** What changes the limits of the account, for example `verified_type` of X. */
  readonly traits: Readonly<Record<string, string>>;
  /** What the platform last offered the account; absent = nothing recent is known. */
  readonly available?: Readonly<Record<string, unknown>> | undefined;
}

export type TargetField = "content" | "title" | "privacy" | "tags" | "media";

export type TargetViolationCode =
  | "content_required"
  | "content_too_long"
  | "too_many_hashtags"
  | "too_many_mentions"
  | "too_many_cashtags"
  | "media_required"
  | "too_few_media"
  | "too_many_media"
  | "media_mix_unsupported"
  | "media_type_unsupported"
  | "media_too_large"
  | "media_dimensions"
  | "media_duration"
  | "media_codec"
  | "media_frame_rate"
  | "alt_text_too_long"
  | "title_required"
  | "title_too_long"
  | "title_unsupported"
  | "privacy_required"
  | "privacy_unsupported"
  | "tags_unsupported"
  | "tags_too_long"
  | "tag_blank"
  | "forbidden_characters"
  | "markup_invalid"
  | "disclosure_not_private";

/**
 * `limit` and `actual` share a unit: the platform's text unit, bytes, pixels, a ratio, seconds or a
 * number of items. `index` counts the media or tags.
 */
export interface TargetViolation {
  readonly code: TargetViolationCode;
  readonly field: TargetField;
  readonly limit?: number;
  readonly actual?: number;
  readonly index?: number;
  /** Unit of `limit` and `actual` if they are lengths of a text. */
  readonly unit?: UnitName;
  /** Characters, each with its positions, or the encoding of a video. */
  readonly found?: string;
  /** What the platform would accept: values, or a condition in symbols without words. */
  readonly fits?: string | readonly string[];
}

/** A width, height or duration that is unknown is null and is not checked. */
export interface TargetMedia {
  readonly kind: "image" | "video";
  readonly contentType: string;
  readonly bytes: number;
  readonly width: number | null;
  readonly height: number | null;
  readonly durationMs: number | null;
  /** Number of frames of an image, more than 1 for an animation; 0 when it is not known. */
  readonly frames: number;
  /** Description of the media item; null when it has none. */
  readonly altText: string | null;
  /** How a video is encoded; absent for images and when it is not known. */
  readonly video?: VideoEncoding | undefined;
}

export interface PostMedia extends TargetMedia {
  readonly id: string;
  readonly isReady: boolean;
}

/** The content for one account, after the options have been applied. */
export interface TargetInput {
  readonly platform: PlatformId;
  readonly text: string;
  readonly title?: string | undefined;
  readonly privacy?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly media: readonly TargetMedia[];
  readonly settings?: SettingValues | undefined;
  readonly traits?: Readonly<Record<string, string>>;
  readonly available?: Readonly<Record<string, unknown>> | undefined;
}
