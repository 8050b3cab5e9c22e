import type { PlatformFacts } from "#src/platform.ts";
import type { PlatformRules } from "#src/rules.ts";
import { flag, imageFit } from "#src/settings/field.ts";

export const SETTINGS = {
  imageFit,
  shareToFeed: flag(true, "Whether reels also appear in the feed of the profile."),
};

/**
 * The rules of Instagram, an image-sharing network. Every post needs media.
 *
 * Source: Content publishing guide, 2026-06-30. Source: IG User and content_publishing_limit
 * references, 2026-09-11. They still say 4:5 to 1.91:1 for images, although the app takes 3:4 since
 * 2025. One program reports that the API took 3:4 as well (PostyBirb, pull request 762,
 *       2026-05-10); no document of Meta that was read on 2026-11-23 says so.
 */
const RULES: PlatformRules = {
  id: "instagram",
  displayName: "Instagram",
  kind: "an image-sharing network",
  text: {
    max: 2200,
    unit: "utf16",
    required: false,
    maxHashtags: 30,
    maxMentions: 20,
    linksClickable: false,
  },
  media: {
    required: true,
    min: 1,
    max: 10,
    mixImageVideo: true,
    maxVideos: 10,
    altTextMax: 1000,
    needsPublicUrl: { image: true, video: false },
  },
  image: {
    types: ["image/jpeg"],
    maxBytes: 8_000_000,
    minRatio: 0.8,
    maxRatio: 1.91,
    minWidth: 320,
    usefulSize: { width: 1440, height: 1920 },
  },
  video: {
    types: ["video/mp4", "video/quicktime"],
    maxBytes: 300_000_000,
    minSeconds: 3,
    maxSeconds: 900,
    minFps: 23,
    maxFps: 60,
    // iPhones record HDR as HEVC with 10 bits.
    codecs: [
      { name: "h264", pixelFormats: ["yuv420p"] },
      { name: "hevc", pixelFormats: ["yuv420p", "yuv420p10"] },
    ],
    audioCodecs: ["aac"],
    fastStart: true,
  },
  kinds: ["image", "carousel", "reel"],
  title: { rule: "none" },
  privacy: ["public"],
  tags: { mode: "in_text" },
  dailyLimit: {
    count: 50,
    windowHours: 24,
    scope: "account",
    source: "live:content_publishing_limit",
  },
  delete: { supported: true, condition: "facebook_login_only" },
  metrics: { supported: true, names: ["views", "reach", "likes", "comments", "shares", "saves"] },
  comments: { list: true, reply: true, hide: true, delete: false },
  dm: { supported: true, windowDays: 7, perComment: 1 },
  idempotency: "publish_once_container",
  verifyLive: ["text.unit", "dailyLimit.count", "text.maxHashtags", "image.minRatio"],
};

export const instagram = {
  rules: RULES,
  settings: SETTINGS,
  liveCheck: { visibility: "readers", needs: "media" },
  offer: undefined,
} satisfies PlatformFacts;
