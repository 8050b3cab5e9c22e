export type TextUnit = "utf16" | "weighted" | "utf8_bytes" | "graphemes";

type PostKind = "text" | "link" | "image" | "carousel" | "video" | "short" | "reel";

export interface TextRules {
  readonly max: number;
  readonly unit: TextUnit;
  readonly required: boolean;
  /** Maximum per trait of the account: keys are the trait's name, then its value. */
  readonly maxByTrait?: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** The maximum length of the text of a post with media; it replaces `max`. */
  readonly maxWithMedia?: number;
  /** Maximum number of UTF-8 bytes of the text, which applies together with `max`. */
  readonly maxUtf8Bytes?: number;
  /** The limits of a TikTok photo post, which has a title and a description. */
  readonly photo?: { readonly titleMax: number; readonly descriptionMax: number };
  readonly maxHashtags?: number;
  readonly maxMentions?: number;
  readonly maxCashtags?: number;
  /** The number of characters that every URL in a text counts as, whatever its own length. */
  readonly urlWeight?: number;
  readonly forbidden?: readonly string[];
  /**
   * Whether the platform converts markup in the text to formatting and counts only the remaining
   * text.
   */
  readonly countedAfterEntityParsing?: boolean;
  readonly linksClickable: boolean;
}

interface MediaRules {
  readonly required: boolean;
  readonly min: number;
  readonly max: number;
  /** The higher maximum number of images in Bluesky's newer gallery record. */
  readonly galleryMax?: number;
  readonly mixImageVideo: boolean;
  readonly maxVideos: number;
  readonly altTextMax?: number;
  readonly altTextRequiredField?: boolean;
  /** Whether the platform fetches the bytes of images and videos itself from a public URL. */
  readonly needsPublicUrl: { readonly image: boolean; readonly video: boolean };
}

export interface AnimationRules {
  readonly types: readonly string[];
  readonly maxBytes: number;
  readonly maxWidth?: number;
  readonly maxHeight?: number;
  readonly maxFrames?: number;
  /** Maximum number of pixels of all frames together. */
  readonly maxPixels?: number;
  /** Maximum number of animations per post; an animation excludes all other media of the post. */
  readonly maxPerPost: number;
}

/**
 * Limits of one image file. Aspect ratios are width divided by height; sizes are in pixels and
 * bytes. `planImage` plans how an image that exceeds them is converted.
 */
export interface ImageRules {
  /**
   * Types of still images that are sent as they are; images of other types are converted to one of
   * these.
   */
  readonly types: readonly string[];
  readonly maxBytes: number;
  readonly animation?: AnimationRules;
  readonly minRatio?: number;
  readonly maxRatio?: number;
  /** Minimum width in pixels; a narrower image is enlarged to it. */
  readonly minWidth?: number;
  readonly maxLongSide?: number;
  readonly maxShortSide?: number;
  readonly maxWidthPlusHeight?: number;
  readonly maxAspect?: number;
  /**
   * The size to which the platform or its clients reduce larger images. A larger image that keeps
   * all other limits is sent as it is; an image that has to be converted becomes at most this
   * large.
   */
  readonly usefulSize?: { readonly width: number; readonly height: number };
  /**
   * Set when the platform uses an image only as the thumbnail of a video, so that a post cannot
   * consist of images.
   */
  readonly role?: "thumbnail";
}

interface VideoCodecRule {
  readonly name: string;
  readonly pixelFormats?: readonly string[];
}

export interface VideoRules {
  readonly types: readonly string[];
  readonly maxBytes: number;
  readonly minSeconds?: number;
  readonly maxSeconds?: number;
  /** The name in the platform's API. */
  readonly maxSecondsSource?: string;
  /** Maximum video length in seconds for accounts that the platform has not verified. */
  readonly unverifiedMaxSeconds?: number;
  readonly minFps?: number;
  readonly maxFps?: number;
  /** Video codecs that the platform takes; absent when no document limits them. */
  readonly codecs?: readonly VideoCodecRule[];
  /**
   * Audio codecs that the platform takes; absent when no document limits them. A video without
   * sound is always taken.
   */
  readonly audioCodecs?: readonly string[];
  /**
   * Whether the index of an MP4 or MOV has to lie in front of the frames. Other files are
   * rewritten, with unchanged streams.
   */
  readonly fastStart?: boolean;
  /**
   * Maximum length of the alternative text of a video, in UTF-16 units; absent when the platform
   * takes none.
   */
  readonly altTextMax?: number;
  readonly minPixels?: number;
  readonly maxPixels?: number;
  readonly minRatio?: number;
  readonly maxRatio?: number;
  readonly reel?: {
    readonly minSeconds: number;
    readonly maxSeconds: number;
    readonly minWidth: number;
    readonly minHeight: number;
    readonly minFps: number;
    readonly maxFps: number;
  };
}

export interface TitleRules {
  readonly rule: "none" | "optional" | "required";
  readonly max?: number;
  readonly unit?: TextUnit;
  readonly forbidden?: readonly string[];
  readonly appliesTo?: readonly PostKind[];
}

export interface TagRules {
  readonly mode: "in_text" | "field";
  /** Maximum length of all tags of a post together, including the commas between them. */
  readonly maxTotal?: number;
  /** Whether a tag with a space is sent in quotes, which count as characters. */
  readonly quotesCountForSpaces?: boolean;
  /** Characters that no tag may have. */
  readonly forbidden?: readonly string[];
  /** Whether a tag of white space alone is refused. */
  readonly refusesBlank?: boolean;
  readonly extraMax?: number;
  readonly extraMaxGraphemes?: number;
  readonly extraMaxUtf8Bytes?: number;
}

export interface DailyLimitRules {
  readonly count?: number | null;
  readonly windowHours?: number;
  readonly scope?: string;
  readonly source?: string;
  readonly resets?: string;
  readonly points?: number;
  readonly perCreate?: number;
  readonly hourlyPoints?: number;
  readonly perUser?: { readonly count: number; readonly windowMinutes: number };
  readonly reels?: { readonly count: number; readonly windowHours: number; readonly scope: string };
  readonly soft?: {
    readonly count: number;
    readonly windowMinutes: number;
    readonly scope: string;
  };
}

interface CommentRules {
  readonly list: boolean;
  readonly listWindowDays?: number;
  readonly reply: boolean | "restricted";
  readonly hide: boolean;
  readonly delete: boolean;
}

/** The mechanism of the platform that prevents publishing a post twice. */
type IdempotencyClass =
  | "publish_once_container"
  | "reconcile_by_timeline"
  | "unpublished_then_publish"
  | "upload_then_status"
  | "resumable_session"
  | "at_most_once"
  | "client_record_key";

/**
 * The limits and features of a platform. This is reference data, independent of accounts and posts.
 */
export interface PlatformRules {
  readonly id: string;
  readonly displayName: string;
  readonly kind: string;
  readonly text: TextRules;
  readonly media: MediaRules;
  readonly image: ImageRules;
  readonly video: VideoRules;
  readonly kinds: readonly PostKind[];
  readonly title: TitleRules;
  readonly privacy: readonly string[];
  readonly privacySource?: string;
  /** Whether the person who posts must choose the privacy; a post without a privacy is refused. */
  readonly privacyNoDefault?: boolean;
  readonly tags: TagRules;
  readonly dailyLimit: DailyLimitRules;
  readonly delete: {
    readonly supported: boolean;
    readonly condition?: string;
  };
  readonly metrics: { readonly supported: boolean; readonly names: readonly string[] };
  readonly comments: CommentRules;
  readonly dm: {
    readonly supported: boolean;
    readonly windowDays?: number;
    readonly perComment?: number;
  };
  readonly idempotency: IdempotencyClass;
  /** Paths of values that no official document confirms. */
  readonly verifyLive: readonly string[];
}

export function altTextLimit(rules: PlatformRules, kind: "image" | "video"): number | undefined {
  return kind === "image" ? rules.media.altTextMax : rules.video.altTextMax;
}
