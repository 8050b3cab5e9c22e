import type { PlatformFacts } from "#src/platform.ts";
import type { PlatformRules } from "#src/rules.ts";
import { imageFit } from "#src/settings/field.ts";

const SETTINGS = { imageFit };

/**
 * The rules of Facebook Pages.
 *
 * Source: Pages API and Reels publishing guides, v25.0, 2026. The text limit and the number of
 * photos are figures that users report, not official ones.
 */
const RULES: PlatformRules = {
  id: "facebook",
  displayName: "Facebook",
  kind: "a large social network",
  text: { max: 63_206, unit: "utf16", required: false, linksClickable: true },
  media: {
    required: false,
    min: 0,
    max: 10,
    mixImageVideo: false,
    maxVideos: 1,
    needsPublicUrl: { image: false, video: false },
  },
  image: {
    // Facebook refuses photos of other sizes or types with: "Photos should be less than 4 MB and
    // saved as JPG, PNG, GIF, TIFF, HEIF or WebP files."
    types: ["image/jpeg", "image/png", "image/gif", "image/bmp", "image/tiff", "image/webp"],
    maxBytes: 4_000_000,
    // Facebook Help recommends pictures 720, 960 or 2048 pixels wide, and stores no larger ones.
    usefulSize: { width: 2048, height: 2048 },
  },
  video: {
    types: ["video/mp4", "video/quicktime"],
    maxBytes: 1_000_000_000,
    reel: { minSeconds: 3, maxSeconds: 90, minWidth: 540, minHeight: 960, minFps: 24, maxFps: 60 },
  },
  kinds: ["text", "link", "image", "carousel", "video", "reel"],
  title: { rule: "optional", appliesTo: ["video", "reel"] },
  privacy: ["public"],
  tags: { mode: "in_text" },
  dailyLimit: { count: null, reels: { count: 30, windowHours: 24, scope: "page" } },
  delete: { supported: true },
  metrics: { supported: true, names: ["views", "reach", "likes", "comments", "shares"] },
  comments: { list: true, reply: true, hide: true, delete: false },
  dm: { supported: true, windowDays: 7, perComment: 1 },
  idempotency: "unpublished_then_publish",
  verifyLive: ["text.max", "media.max", "image.maxBytes", "video.maxBytes", "idempotency"],
};

export const facebook = {
  rules: RULES,
  settings: SETTINGS,
  liveCheck: { visibility: "unpublished", privacy: "unpublished" },
  offer: undefined,
} satisfies PlatformFacts;
