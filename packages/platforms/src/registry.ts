import { bluesky } from "#src/bluesky/rules.ts";
import { facebook } from "#src/facebook/rules.ts";
import { instagram } from "#src/instagram/rules.ts";
import { telegram } from "#src/telegram/rules.ts";
import { tiktok } from "#src/tiktok/rules.ts";
import { x } from "#src/x/rules.ts";
import { youtube } from "#src/youtube/rules.ts";
import type { PlatformRules } from "./rules.ts";

/** The ids of all platforms, in the order in which the API lists them. */
export const PLATFORM_IDS = [
  "instagram",
  "x",
  "facebook",
  "tiktok",
  "youtube",
  "telegram",
  "bluesky",
] as const;

/** The id of a platform in the REST API, in messages and in database columns. */
export type PlatformId = (typeof PLATFORM_IDS)[number];

export function isPlatformId(text: string): text is PlatformId {
  return PLATFORM_IDS.some((id) => id === text);
}

/** The rules of each platform. The code does not compile when a platform has no rules. */
export const PLATFORMS = {
  instagram,
  x,
  facebook,
  tiktok,
  youtube,
  telegram,
  bluesky,
} satisfies Record<PlatformId, PlatformRules>;
