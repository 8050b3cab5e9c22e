import type { PlatformFacts } from "#src/platform.ts";
import type { PlatformRules } from "#src/rules.ts";
import { SETTINGS } from "./settings.ts";

/**
 * The rules of Telegram channels and groups, to which a bot posts. Source: Bot API 10.3,
 * 2026-08-24.
 */
const RULES: PlatformRules = {
  id: "telegram",
  displayName: "Telegram",
  kind: "a messaging app",
  text: {
    max: 4096,
    unit: "utf16",
    required: false,
    maxWithMedia: 1024,
    countedAfterEntityParsing: true,
    linksClickable: true,
  },
  media: {
    required: false,
    min: 0,
    max: 10,
    mixImageVideo: true,
    maxVideos: 10,
    needsPublicUrl: { image: false, video: false },
  },
  image: {
    types: ["image/jpeg", "image/png", "image/webp"],
    maxBytes: 10_000_000,
    animation: { types: ["image/gif"], maxBytes: 50_000_000, maxPerPost: 1 },
    maxWidthPlusHeight: 10_000,
    maxAspect: 20,
    // Telegram's clients show photos with at most 2560 pixels on the longer side.
    usefulSize: { width: 2560, height: 2560 },
  },
  video: { types: ["video/mp4"], maxBytes: 50_000_000 },
  kinds: ["text", "link", "image", "carousel", "video"],
  title: { rule: "none" },
  privacy: ["public"],
  tags: { mode: "in_text" },
  dailyLimit: { count: null, soft: { count: 20, windowMinutes: 1, scope: "channel" } },
  delete: { supported: true },
  metrics: { supported: false, names: [] },
  comments: { list: false, reply: false, hide: false, delete: false },
  dm: { supported: false },
  idempotency: "at_most_once",
  verifyLive: ["dailyLimit.soft"],
};

export const telegram = {
  rules: RULES,
  settings: SETTINGS,
  liveCheck: { visibility: "readers" },
  offer: undefined,
} satisfies PlatformFacts;
