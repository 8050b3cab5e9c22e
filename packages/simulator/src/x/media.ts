import type { Store, Table } from "#src/store/store.ts";
import { AAC, AVC, videoFault } from "#src/world/mp4.ts";
import type { PostedMedia } from "#src/world/posts.ts";
import type { ReceivedMedia } from "#src/world/received-media.ts";

export type MediaCategory = "tweet_image" | "tweet_gif" | "tweet_video";

interface CategoryRule {
  readonly kind: "image" | "gif" | "video";
  readonly types: readonly string[];
  readonly maxBytes: number;
  readonly keyPrefix: string;
}

/**
 * The size limits for uploaded files in X's media documentation of 2026-08. "MB" counts as
 * 1,000,000 bytes, the smaller of its two meanings.
 */
export const CATEGORIES: Readonly<Record<MediaCategory, CategoryRule>> = {
  tweet_image: {
    kind: "image",
    types: ["image/jpeg", "image/png", "image/webp", "image/bmp", "image/tiff", "image/pjpeg"],
    maxBytes: 5_000_000,
    keyPrefix: "3",
  },
  tweet_gif: { kind: "gif", types: ["image/gif"], maxBytes: 15_000_000, keyPrefix: "16" },
  tweet_video: {
    kind: "video",
    types: ["video/mp4", "video/webm", "video/mp2t", "video/quicktime"],
    maxBytes: 512_000_000,
    keyPrefix: "7",
  },
};

const MAX_IMAGE_SIDE = 8192;
const MAX_GIF_WIDTH = 1280;
const MAX_GIF_HEIGHT = 1080;
const MAX_GIF_FRAMES = 350;
const MAX_GIF_PIXELS = 300_000_000;
const MAX_VIDEO_ASPECT = 3;

/**
 * "Video specifications" of X's media best practices: H.264 with 4:2:0 and 8 bits, AAC-LC, at most
 * 60 frames per second.
 */
const VIDEO_LIMITS = { video: AVC, audio: AAC, plainAvc: true, maxFps: 60 };

/**
 * X's words for a video whose codec or frame rate it does not take
 * (github.com/mironal/TwitterAPIKit/issues/96).
 */
const UNSUPPORTED_VIDEO = "file is currently unsupported";

export function mediaFault(received: ReceivedMedia): string | undefined {
  const { kind, width = 0, height = 0, frames = 1 } = received;
  if (kind === "video") {
    const isEncoded = videoFault(received, VIDEO_LIMITS) === undefined;
    return isEncoded ? aspectFault(width, height) : UNSUPPORTED_VIDEO;
  }
  return kind === "gif" ? gifFault(width, height, frames) : imageFault(width, height, frames);
}

function aspectFault(width: number, height: number): string | undefined {
  const aspect = Math.max(width, height) / Math.max(1, Math.min(width, height));
  return aspect > MAX_VIDEO_ASPECT && width > 0
    ? "The aspect ratio of the video is not supported"
    : undefined;
}

function gifFault(width: number, height: number, frames: number): string | undefined {
  const isTooLarge = width > MAX_GIF_WIDTH || height > MAX_GIF_HEIGHT;
  if (isTooLarge || frames > MAX_GIF_FRAMES)
    return `A GIF has at most ${MAX_GIF_WIDTH}x${MAX_GIF_HEIGHT} pixels and ${MAX_GIF_FRAMES} frames`;
  return width * height * frames > MAX_GIF_PIXELS
    ? `A GIF has at most ${MAX_GIF_PIXELS} pixels in all its frames`
    : undefined;
}

function imageFault(width: number, height: number, frames: number): string | undefined {
  if (Math.max(width, height) > MAX_IMAGE_SIDE)
    return `Image dimensions must be <= ${MAX_IMAGE_SIDE}x${MAX_IMAGE_SIDE}`;
  return frames > 1 ? "Animated images other than GIF are not supported" : undefined;
}

export const MAX_SEGMENT_BYTES = 5 * 1024 * 1024;
export const MAX_SEGMENT_INDEX = 999;

export function isCategory(value: unknown): value is MediaCategory {
  return typeof value === "string" && Object.hasOwn(CATEGORIES, value);
}

/** It stays stored after it expires. */
export interface XMedia {
  readonly id: string;
  readonly key: string;
  readonly owner: string;
  readonly category: MediaCategory;
  readonly mediaType: string;
  readonly totalBytes: number;
  readonly segments: Readonly<Record<string, number>>;
  readonly expiresAt: number;
  /** Absent while the upload is incomplete, and when X cannot read the file. */
  readonly received?: ReceivedMedia | undefined;
  /** In X's words; absent when X takes the file or cannot read it. */
  readonly fault?: string | undefined;
  readonly completedAt?: number;
  readonly altText?: string;
}

export const UPLOAD_LIFETIME_SECONDS = 1_295_999;
export const MEDIA_LIFETIME_SECONDS = 86_400;
/** A caller that polls every second therefore sees the processing status. */
const PROCESSING_MS = 1_200;

type Processing =
  | { readonly state: "none" | "succeeded" | "failed" }
  | { readonly state: "pending" | "in_progress"; readonly percent: number };

function processingOf(media: XMedia, now: number): Processing {
  if (media.category === "tweet_image" || media.completedAt === undefined) return { state: "none" };
  const passedMs = now - media.completedAt;
  if (passedMs < PROCESSING_MS) {
    const percent = Math.floor((passedMs / PROCESSING_MS) * 100);
    return { state: percent < 25 ? "pending" : "in_progress", percent };
  }
  return { state: media.received === undefined ? "failed" : "succeeded" };
}

export class MediaStore {
  readonly #rows: Table<XMedia>;

  constructor(store: Store) {
    this.#rows = store.table<XMedia>("x.media");
  }

  put(media: XMedia): XMedia {
    this.#rows.put(media.id, media);
    return media;
  }

  find(owner: string, id: string, now: number): XMedia | undefined {
    const media = this.#rows.get(id);
    return media?.owner === owner && now < media.expiresAt ? media : undefined;
  }

  usable(owner: string, id: string, now: number): PostedMedia | undefined {
    const media = this.find(owner, id, now);
    if (media?.received === undefined) return undefined;
    const { state } = processingOf(media, now);
    const { kind, sha256 } = media.received;
    if (state !== "none" && state !== "succeeded") return undefined;
    const { key, altText } = media;
    return { kind, sha256, key, altText };
  }
}

export function segmentName(mediaId: string, index: number): string {
  return `x-${mediaId}-${index}`;
}

const CHECK_AFTER_SECONDS = 1;

function errorOf(fault: string | undefined) {
  return fault === undefined
    ? { code: 1, name: "InvalidMedia", message: "Unsupported media format" }
    : { code: 3, name: "UnsupportedMedia", message: fault };
}

function processingView(processing: Processing, fault: string | undefined) {
  switch (processing.state) {
    case "none":
      return undefined;
    case "succeeded":
      return { state: "succeeded", progress_percent: 100 };
    case "failed":
      return { state: "failed", error: errorOf(fault) };
    case "pending":
    case "in_progress": {
      const { state, percent } = processing;
      return { state, check_after_secs: CHECK_AFTER_SECONDS, progress_percent: percent };
    }
  }
}

export function mediaView(media: XMedia, now: number) {
  const { id, key, totalBytes, received, mediaType } = media;
  const image = { w: received?.width ?? 0, h: received?.height ?? 0, image_type: mediaType };
  return {
    id,
    media_key: key,
    size: totalBytes,
    expires_after_secs: Math.floor((media.expiresAt - now) / 1000),
    image: media.category === "tweet_image" ? image : undefined,
    processing_info: processingView(processingOf(media, now), media.fault),
  };
}
