import type { PlatformFacts } from "#src/platform.ts";
import type { PlatformRules } from "#src/rules.ts";
import { choice, flag, type TextField } from "#src/settings/field.ts";

/**
 * The category of a video. "22" is "People & Blogs", which YouTube's own upload page preselects.
 */
const categoryId: TextField<string> = {
  kind: "text",
  pattern: "^[1-9][0-9]*$",
  maxLength: 3,
  default: "22",
  description:
    "YouTube's number of the category of videos, for example `22` (People & Blogs) or `28` (Science & Technology).",
};

const playlistId: TextField<string | null> = {
  kind: "text",
  pattern: "^[A-Za-z0-9_-]+$",
  maxLength: 64,
  default: null,
  description: "Id of a playlist of the channel to which videos are added after the upload.",
};

export const SETTINGS = {
  categoryId,
  madeForKids: flag(
    false,
    "Whether videos are made for children, as the law of the United States defines it. You declare this to YouTube.",
  ),
  notifySubscribers: flag(true, "Whether subscribers are notified of videos."),
  license: choice(
    ["youtube", "creative_commons"],
    "youtube",
    "License of videos: YouTube's standard license, or Creative Commons Attribution.",
  ),
  playlistId,
};

/**
 * The rules of YouTube. A post is one video with a title; the post's text becomes the description
 * of the video.
 *
 * Source: Data API videos.insert, 2026-01-07. Source: quota page, 2026-09-11.
 */
const RULES: PlatformRules = {
  id: "youtube",
  displayName: "YouTube",
  kind: "a video site",
  text: {
    max: 5000,
    unit: "utf8_bytes",
    required: false,
    forbidden: ["<", ">"],
    linksClickable: true,
  },
  media: {
    required: true,
    min: 1,
    max: 1,
    mixImageVideo: false,
    maxVideos: 1,
    needsPublicUrl: { image: false, video: false },
  },
  image: { types: ["image/jpeg", "image/png"], maxBytes: 2_000_000, role: "thumbnail" },
  video: {
    types: ["video/*", "application/octet-stream"],
    maxBytes: 256_000_000_000,
    maxSeconds: 43_200,
    unverifiedMaxSeconds: 900,
  },
  kinds: ["video", "short"],
  title: { rule: "required", max: 100, unit: "utf16", forbidden: ["<", ">"] },
  privacy: ["public", "unlisted", "private"],
  tags: {
    mode: "field",
    maxTotal: 500,
    quotesCountForSpaces: true,
    forbidden: ["<", ">"],
    refusesBlank: true,
  },
  dailyLimit: {
    count: 100,
    windowHours: 24,
    scope: "project",
    resets: "midnight America/Los_Angeles",
  },
  delete: { supported: true },
  metrics: { supported: true, names: ["views", "likes", "comments"] },
  comments: { list: true, reply: true, hide: true, delete: false },
  dm: { supported: false },
  idempotency: "resumable_session",
  verifyLive: ["title.unit", "dailyLimit.count"],
};

export const youtube = {
  rules: RULES,
  settings: SETTINGS,
  liveCheck: { visibility: "owner", privacy: "private", needs: "video" },
  offer: undefined,
} satisfies PlatformFacts;
