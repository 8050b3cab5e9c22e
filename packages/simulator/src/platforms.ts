import { createBluesky } from "#src/bluesky/bluesky.ts";
import { createFacebook } from "#src/facebook/facebook.ts";
import { createInstagram } from "#src/instagram/instagram.ts";
import type { Platform, PlatformFactory } from "#src/platform.ts";
import { createTelegram } from "#src/telegram/telegram.ts";
import { createTiktok } from "#src/tiktok/tiktok.ts";
import type { World } from "#src/world/world.ts";
import { createX } from "#src/x/x.ts";
import { createYoutube } from "#src/youtube/youtube.ts";

const FACTORIES: readonly PlatformFactory[] = [
  createX,
  createTelegram,
  createBluesky,
  createFacebook,
  createTiktok,
  createYoutube,
  createInstagram,
];

export type Platforms = ReadonlyMap<string, Platform>;

export function createPlatforms(world: World): Platforms {
  return new Map(
    FACTORIES.map((create) => {
      const platform = create(world);
      return [platform.id, platform];
    }),
  );
}
