import { bluesky } from "#src/bluesky/facts.ts";
import { facebook } from "#src/facebook/facts.ts";
import { instagram } from "#src/instagram/facts.ts";
import type { PlatformId } from "#src/platform-id.ts";
import type { PlatformFacts } from "#src/platform.ts";
import { telegram } from "#src/telegram/facts.ts";
import { tiktok } from "#src/tiktok/facts.ts";
import { x } from "#src/x/facts.ts";
import { youtube } from "#src/youtube/facts.ts";

/**
 * What is known of each platform without a call to it. Services that call no platform import this
 * file and not `platforms.ts`, so that they do not load the code of the calls.
 */
export const PLATFORM_FACTS = {
  instagram,
  x,
  facebook,
  tiktok,
  youtube,
  telegram,
  bluesky,
} satisfies Record<PlatformId, PlatformFacts>;
