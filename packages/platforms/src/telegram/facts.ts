import type { PlatformFacts } from "#src/platform.ts";
import type { PlatformRules } from "#src/rules.ts";
import { choice, flag } from "#src/settings/field.ts";

export const SETTINGS = {
  format: choice(
    ["plain", "html"],
    "plain",
    "How the text is read: `plain` = as it is, `html` = with Telegram's HTML tags, for example `<b>`; `<`, `>` and `&` are then written `&lt;`, `&gt;` and `&amp;`.",
  ),
  silent: flag(false, "Whether the readers get the post without a sound."),
  linkPreview: flag(true, "Whether a text with a link shows a preview of the linked page."),
};

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
