/** How a platform counts the length of a text; what each unit means is in text.ts. */
export type TextUnit = "utf16" | "weighted" | "utf8_bytes" | "graphemes";

/** What a post can be on a platform. */
export type PostKind =
  | "text"
  | "link"
  | "image"
  | "carousel"
  | "video"
  | "short"
  | "reel"
  | "story";

/** Limits of the text of a post, in `unit`. */
export interface TextRules {
  readonly max: number;
  readonly unit: TextUnit;
  readonly required: boolean;
  /** The limit that takes the place of `max` when media is attached. */
  readonly maxWithMedia?: number;
  /** A second limit that holds beside `max`. */
  readonly maxUtf8Bytes?: number;
  /** What the platform takes with photos: a title and a longer text. */
  readonly photo?: { readonly titleMax: number; readonly descriptionMax: number };
  readonly maxHashtags?: number;
  readonly maxMentions?: number;
  /** The length that every URL counts, however long it is. */
  readonly urlWeight?: number;
  /** Characters that may not occur. */
  readonly forbidden?: readonly string[];
  /** The platform counts what is left after markup became formatting. */
  readonly countedAfterEntityParsing?: boolean;
  readonly linksClickable: boolean;
}

/** How many media a post carries and which go together. */
export interface MediaRules {
  readonly required: boolean;
  readonly min: number;
  readonly max: number;
  /** The larger number that the platform's newer gallery record takes. */
  readonly galleryMax?: number;
  readonly mixImageVideo: boolean;
  readonly maxVideos: number;
  /** Length of an alternative text in UTF-16 units. */
  readonly altTextMax?: number;
  readonly altTextRequiredField?: boolean;
  /** Whether the platform fetches the bytes itself from an address that all may read. */
  readonly needsPublicUrl: { readonly image: boolean; readonly video: boolean };
}

/** Limits of one image. Ratios are width divided by height, sizes are pixels and bytes. */
export interface ImageRules {
  readonly types: readonly string[];
  readonly maxBytes: number;
  readonly gifMaxBytes?: number;
  readonly maxGifs?: number;
  readonly minRatio?: number;
  readonly maxRatio?: number;
  readonly minWidth?: number;
  readonly maxWidthPlusHeight?: number;
  /** The longer side divided by the shorter one. */
  readonly maxAspect?: number;
  /** Set when an image is never the post itself. */
  readonly role?: "thumbnail";
}

/** Limits of one video. A type may end in `/*`. */
export interface VideoRules {
  readonly types: readonly string[];
  readonly maxBytes: number;
  readonly minSeconds?: number;
  readonly maxSeconds?: number;
  /** Where the limit of a single account can be asked for. */
  readonly maxSecondsSource?: string;
  /** The limit of accounts that the platform has not verified. */
  readonly unverifiedMaxSeconds?: number;
  readonly minFps?: number;
  readonly maxFps?: number;
  /** Both sides lie between these. */
  readonly minPixels?: number;
  readonly maxPixels?: number;
  readonly reel?: {
    readonly minSeconds: number;
    readonly maxSeconds: number;
    readonly minWidth: number;
    readonly minHeight: number;
    readonly minFps: number;
    readonly maxFps: number;
  };
}

/** Whether a post has a title of its own, and for which kinds. */
export interface TitleRules {
  readonly rule: "none" | "optional" | "required";
  readonly max?: number;
  readonly unit?: TextUnit;
  readonly forbidden?: readonly string[];
  readonly appliesTo?: readonly PostKind[];
}

/** Tags are either words in the text or a field of the post. */
export interface TagRules {
  readonly mode: "in_text" | "field";
  /** All tags together, with the commas between them. */
  readonly maxTotal?: number;
  /** A tag with a space is sent in quotes, which count. */
  readonly quotesCountForSpaces?: boolean;
  readonly extraMax?: number;
  readonly extraMaxGraphemes?: number;
  readonly extraMaxUtf8Bytes?: number;
}

/** How much a platform takes in a day: a count, or points that each creation uses up. */
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

/** What can be done with comments under a post. */
export interface CommentRules {
  readonly list: boolean;
  readonly listWindowDays?: number;
  readonly reply: boolean | "restricted";
  readonly hide: boolean;
  readonly delete: boolean;
}

/** What the platform offers against publishing twice. */
export type IdempotencyClass =
  | "publish_once_container"
  | "reconcile_by_timeline"
  | "unpublished_then_publish"
  | "upload_then_status"
  | "resumable_session"
  | "at_most_once"
  | "client_record_key";

/** Everything a platform accepts and offers. Reference data: it says nothing of accounts or posts. */
export interface PlatformRules {
  readonly id: string;
  readonly displayName: string;
  /** What sort of network it is, in words. */
  readonly kind: string;
  readonly text: TextRules;
  readonly media: MediaRules;
  readonly image: ImageRules;
  readonly video: VideoRules;
  readonly kinds: readonly PostKind[];
  readonly title: TitleRules;
  readonly privacy: readonly string[];
  readonly privacySource?: string;
  /** The person who posts must choose: a missing privacy is refused. */
  readonly privacyNoDefault?: boolean;
  readonly tags: TagRules;
  readonly dailyLimit: DailyLimitRules;
  readonly delete: {
    readonly supported: boolean;
    readonly condition?: string;
    readonly except?: readonly string[];
  };
  readonly metrics: { readonly supported: boolean; readonly names: readonly string[] };
  readonly comments: CommentRules;
  readonly dm: {
    readonly supported: boolean;
    readonly windowDays?: number;
    readonly perComment?: number;
  };
  readonly idempotency: IdempotencyClass;
  /** Paths of the values that rest on weak sources and deserve a look on the first live run. */
  readonly verifyLive: readonly string[];
}
