import { choice, flag } from "#src/settings/field.ts";

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
