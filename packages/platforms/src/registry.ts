import { bluesky } from "#src/bluesky/rules.ts";
import { facebook } from "#src/facebook/rules.ts";
import { instagram } from "#src/instagram/rules.ts";
import { telegram } from "#src/telegram/rules.ts";
import { tiktok } from "#src/tiktok/rules.ts";
import { x } from "#src/x/rules.ts";
import { youtube } from "#src/youtube/rules.ts";
import type { PlatformRules } from "./rules.ts";

/** Every platform, in the order in which the API lists them. */
export const PLATFORM_IDS = [
  "instagram",
  "x",
  "facebook",
  "tiktok",
  "youtube",
  "telegram",
  "bluesky",
] as const;

/** The word that names a platform in the API, in messages and in columns. */
export type PlatformId = (typeof PLATFORM_IDS)[number];

/** Whether a text from outside names a platform; capitals and white space are not forgiven. */
export function isPlatformId(text: string): text is PlatformId {
  return PLATFORM_IDS.some((id) => id === text);
}

/** What each platform accepts. A platform that is listed but has no rules does not compile. */
export const PLATFORMS = {
  instagram,
  x,
  facebook,
  tiktok,
  youtube,
  telegram,
  bluesky,
} satisfies Record<PlatformId, PlatformRules>;
