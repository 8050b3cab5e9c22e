import { bluesky } from "#src/bluesky/settings.ts";
import { facebook } from "#src/facebook/settings.ts";
import { instagram } from "#src/instagram/settings.ts";
import type { PlatformId } from "#src/registry.ts";
import { telegram } from "#src/telegram/settings.ts";
import { tiktok } from "#src/tiktok/settings.ts";
import { x } from "#src/x/settings.ts";
import { youtube } from "#src/youtube/settings.ts";
import type { SettingFields, SettingsOf } from "./field.ts";

/** The settings that the accounts of each platform have. The code does not compile when a platform has none. */
export const ACCOUNT_SETTINGS = {
  instagram,
  x,
  facebook,
  tiktok,
  youtube,
  telegram,
  bluesky,
} satisfies Record<PlatformId, SettingFields>;

/** The values of all settings of an account of the platform. */
export type AccountSettings<P extends PlatformId = PlatformId> = SettingsOf<
  (typeof ACCOUNT_SETTINGS)[P]
>;
