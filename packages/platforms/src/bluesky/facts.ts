import type { PlatformFacts } from "#src/platform.ts";
import type { PlatformRules } from "#src/rules.ts";
import type { ListField } from "#src/settings/field.ts";

/**
 * The languages of a post. Source: lexicon app.bsky.feed.post, `langs` has at most 3 BCP 47 tags,
 * 2026-11-22.
 */
const languages: ListField = {
  kind: "list",
  item: { pattern: "^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*$", maxLength: 35 },
  maxItems: 3,
  default: [],
  description:
    "Languages of the posts as BCP 47 tags, for example `en` or `pt-BR`. People find posts in their languages only.",
};

export const SETTINGS = { languages };

/**
 * The rules of Bluesky, on the AT Protocol. Its text has two limits at once: graphemes and bytes.
 *
 * Source: lexicons app.bsky.feed.post and app.bsky.embed.*, 2026-08-20. Servers accept every
 * `image/*`, but clients show the first frame of an animation only. Bluesky's own app takes videos
 * of 10 minutes since August 2026 (social-app, `src/lib/constants.ts`), and the lexicon has neither
 * a limit of the length nor, since 2026-08-14 (atproto pull request 5350), one of the description
 * of a video.
 */
const RULES: PlatformRules = {
  id: "bluesky",
  displayName: "Bluesky",
  kind: "a decentralized short-text network",
  text: { max: 300, unit: "graphemes", maxUtf8Bytes: 3000, required: false, linksClickable: true },
  media: {
    required: false,
    min: 0,
    max: 4,
    galleryMax: 10,
    mixImageVideo: false,
    maxVideos: 1,
    altTextRequiredField: true,
    needsPublicUrl: { image: false, video: false },
  },
  image: {
    types: ["image/jpeg", "image/png", "image/webp"],
    maxBytes: 2_000_000,
    // More pixels than Bluesky's clients show, and few enough for good quality within `maxBytes`.
    usefulSize: { width: 3000, height: 3000 },
  },
  video: { types: ["video/mp4"], maxBytes: 300_000_000, maxSeconds: 600 },
  kinds: ["text", "link", "image", "carousel", "video"],
  title: { rule: "none" },
  privacy: ["public"],
  tags: { mode: "in_text", extraMax: 8, extraMaxGraphemes: 64, extraMaxUtf8Bytes: 640 },
  dailyLimit: {
    points: 35_000,
    perCreate: 3,
    hourlyPoints: 5000,
    windowHours: 24,
    scope: "account",
  },
  delete: { supported: true },
  metrics: { supported: true, names: ["likes", "comments", "shares", "saves"] },
  comments: { list: true, reply: true, hide: true, delete: false },
  dm: { supported: false },
  idempotency: "client_record_key",
  verifyLive: ["video.maxSeconds"],
};

export const bluesky = {
  rules: RULES,
  settings: SETTINGS,
  liveCheck: { visibility: "readers" },
  offer: undefined,
} satisfies PlatformFacts;
