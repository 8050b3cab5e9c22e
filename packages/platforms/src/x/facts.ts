import type { PlatformFacts } from "#src/platform.ts";
import type { PlatformRules } from "#src/rules.ts";
import { choice } from "#src/settings/field.ts";

export const SETTINGS = {
  replySettings: choice(
    ["everyone", "following", "mentioned"],
    "everyone",
    "Who may reply to posts: `everyone`, the accounts that the account follows (`following`) or those that the post mentions (`mentioned`).",
  ),
};

/**
 * The rules of X, a short-text network. The text is measured in weighted characters.
 *
 * Source: X API OpenAPI 2.167, rate limits and pricing pages, 2026-08-22. Source: twitter-text
 * configuration v3.
 */
const RULES: PlatformRules = {
  id: "x",
  displayName: "X",
  kind: "a short-text network",
  text: {
    max: 280,
    // Subscribers may write longer posts; X shows them as verified. Source: X help page "About X
    // Premium", 25,000 characters. That accounts of organizations may do so too is not confirmed.
    maxByTrait: { verified_type: { blue: 25_000, business: 25_000, government: 25_000 } },
    unit: "weighted",
    urlWeight: 23,
    maxCashtags: 1,
    required: false,
    linksClickable: true,
  },
  media: {
    required: false,
    min: 0,
    max: 4,
    mixImageVideo: false,
    maxVideos: 1,
    altTextMax: 1000,
    needsPublicUrl: { image: false, video: false },
  },
  image: {
    types: ["image/jpeg", "image/png", "image/webp"],
    maxBytes: 5_000_000,
    animation: {
      types: ["image/gif"],
      maxBytes: 15_000_000,
      maxWidth: 1280,
      maxHeight: 1080,
      maxFrames: 350,
      // docs.x.com, media best practices, 2026-08-22.
      maxPixels: 300_000_000,
      maxPerPost: 1,
    },
    maxLongSide: 8192,
    // X keeps at most 4096 x 4096 pixels of a picture.
    usefulSize: { width: 4096, height: 4096 },
  },
  video: {
    types: ["video/mp4", "video/quicktime"],
    maxBytes: 512_000_000,
    minSeconds: 0.5,
    maxSeconds: 140,
    maxFps: 60,
    // docs.x.com, media best practices, 2026-08-22.
    minRatio: 1 / 3,
    maxRatio: 3,
    codecs: [{ name: "h264", pixelFormats: ["yuv420p"] }],
    audioCodecs: ["aac"],
  },
  kinds: ["text", "link", "image", "carousel", "video"],
  title: { rule: "none" },
  privacy: ["public"],
  tags: { mode: "in_text" },
  dailyLimit: {
    count: 10_000,
    windowHours: 24,
    scope: "app",
    perUser: { count: 100, windowMinutes: 15 },
  },
  delete: { supported: true },
  metrics: { supported: true, names: ["impressions", "likes", "comments", "shares", "saves"] },
  comments: { list: true, listWindowDays: 7, reply: "restricted", hide: true, delete: false },
  dm: { supported: false },
  idempotency: "reconcile_by_timeline",
  verifyLive: ["comments.reply", "media.mixImageVideo", "text.maxByTrait"],
};

export const x = {
  rules: RULES,
  settings: SETTINGS,
  liveCheck: { visibility: "readers" },
  offer: undefined,
} satisfies PlatformFacts;
