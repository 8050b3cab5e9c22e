import type { PlatformFacts } from "#src/platform.ts";
import type { PlatformRules } from "#src/rules.ts";
import type { OfferRules } from "#src/settings/available-reader.ts";
import { choice, flag } from "#src/settings/field.ts";
import { readSettings } from "#src/settings/read-settings.ts";

/**
 * The settings of a TikTok account. Interactions are off by default, because TikTok's audit
 * requires that the creator turns them on. Source: content sharing guidelines, 2026-09-11.
 */
export const SETTINGS = {
  allowComment: flag(false, "Whether people may comment on posts."),
  allowDuet: flag(false, "Whether people may make duets with videos."),
  allowStitch: flag(false, "Whether people may use parts of videos in theirs."),
  disclosure: choice(
    ["none", "own_brand", "paid"],
    "none",
    "What posts advertise: nothing (`none`), the creator's own business (`own_brand`), or another brand that paid for it (`paid`; TikTok does not allow such posts to be private).",
  ),
  autoAddMusic: flag(false, "Whether TikTok adds music that it recommends to photo posts."),
  unlistedAs: choice(
    ["friends", "followers", "only_me"],
    "only_me",
    "Who sees posts with the privacy `unlisted`, which TikTok does not have: `friends` (followers that the account follows back), `followers` (private accounts only) or `only_me`.",
  ),
};

const FLAGS = ["allowComment", "allowDuet", "allowStitch"];

function toAudiences({ audiences }: Readonly<Record<string, unknown>>): readonly string[] {
  return Array.isArray(audiences) ? audiences.map(String) : [];
}

const offer: OfferRules = {
  read: (available, settings) => {
    if (available === undefined) return {};
    const { maxVideoSeconds } = available;
    const audiences = toAudiences(available);
    const { unlistedAs } = readSettings(SETTINGS, settings);
    const privacies = audiences.flatMap((audience) => [
      audience === "only_me" ? "private" : audience,
      ...(audience === unlistedAs ? ["unlisted"] : []),
    ]);
    return {
      ...(privacies.length === 0 ? {} : { privacies }),
      ...(typeof maxVideoSeconds === "number" ? { maxVideoSeconds } : {}),
    };
  },
  findUnoffered: (patch, available) => {
    if (available === null) return [];
    const audiences = toAudiences(available);
    const { unlistedAs } = patch;
    const isUnoffered = typeof unlistedAs === "string" && !audiences.includes(unlistedAs);
    const allowed = audiences.filter((audience) => audience !== "public");
    return [
      ...(isUnoffered ? [{ code: "not_allowed", path: "/unlistedAs", allowed } as const] : []),
      ...FLAGS.filter((name) => patch[name] === true && available[name] === false).map(
        (name) => ({ code: "not_allowed", path: `/${name}`, allowed: ["false"] }) as const,
      ),
    ];
  },
};

/**
 * The rules of TikTok, a short-video network. A post must state its privacy, because TikTok has no
 * default.
 *
 * Source: Direct post, photo post and sharing guidelines, 2026-09-11.
 */
const RULES: PlatformRules = {
  id: "tiktok",
  displayName: "TikTok",
  kind: "a short-video network",
  text: {
    max: 2200,
    unit: "utf16",
    required: false,
    photo: { titleMax: 90, descriptionMax: 4000 },
    linksClickable: false,
  },
  media: {
    required: true,
    min: 1,
    max: 35,
    mixImageVideo: false,
    maxVideos: 1,
    needsPublicUrl: { image: true, video: false },
  },
  image: {
    types: ["image/jpeg", "image/webp"],
    maxBytes: 20_000_000,
    // "Up to 1080p": TikTok refuses 1254 x 1254 and 1086 x 1448, and takes 941 x 1672 (Postiz
    // #1875, 2026-08-11).
    maxShortSide: 1080,
    maxLongSide: 1920,
  },
  video: {
    types: ["video/mp4", "video/webm", "video/quicktime"],
    maxBytes: 4_000_000_000,
    maxSeconds: 600,
    maxSecondsSource: "live:creator_info",
    minFps: 23,
    maxFps: 60,
    codecs: [{ name: "h264" }, { name: "hevc" }, { name: "vp8" }, { name: "vp9" }],
    minPixels: 360,
    maxPixels: 4096,
  },
  kinds: ["video", "image", "carousel"],
  title: { rule: "optional", max: 90, appliesTo: ["image", "carousel"] },
  privacy: ["public", "unlisted", "private", "followers", "friends"],
  privacySource: "live:creator_info",
  privacyNoDefault: true,
  tags: { mode: "in_text" },
  dailyLimit: { count: 15, windowHours: 24, scope: "account_all_apps" },
  delete: { supported: false },
  metrics: { supported: true, names: ["views", "likes", "comments", "shares"] },
  comments: { list: false, reply: false, hide: false, delete: false },
  dm: { supported: false },
  idempotency: "upload_then_status",
  verifyLive: ["dailyLimit.count", "image.maxLongSide"],
};

export const tiktok = {
  rules: RULES,
  settings: SETTINGS,
  liveCheck: { visibility: "owner", privacy: "private", needs: "video" },
  offer,
} satisfies PlatformFacts;
