import {
  createBlueskyPublishingConnector,
  type BlueskySettings,
} from "#src/bluesky/publishing/connector.ts";
import {
  createFacebookPublishingConnector,
  type FacebookSettings,
} from "#src/facebook/publishing/connector.ts";
import type { InstagramSettings } from "#src/instagram/api-of-account.ts";
import { createInstagramPublishingConnector } from "#src/instagram/publishing/connector.ts";
import type { PlatformId } from "#src/registry.ts";
import {
  createTelegramPublishingConnector,
  type TelegramSettings,
} from "#src/telegram/publishing/connector.ts";
import {
  createTiktokPublishingConnector,
  type TiktokSettings,
} from "#src/tiktok/publishing/connector.ts";
import { createXPublishingConnector, type XSettings } from "#src/x/publishing/connector.ts";
import {
  createYoutubePublishingConnector,
  type YoutubeSettings,
} from "#src/youtube/publishing/connector.ts";
import type { PublishingConnector } from "./connector.ts";

/** The addresses and options with which each platform publishes. */
export interface PublishingSettings {
  readonly instagram: InstagramSettings;
  readonly x: XSettings;
  readonly facebook: FacebookSettings;
  readonly tiktok: TiktokSettings;
  readonly youtube: YoutubeSettings;
  readonly telegram: TelegramSettings;
  readonly bluesky: BlueskySettings;
}

export type PublishingConnectors = Readonly<Record<PlatformId, PublishingConnector>>;

/** The publishing connector of every platform. */
export function createPublishingConnectors(settings: PublishingSettings): PublishingConnectors {
  return {
    instagram: createInstagramPublishingConnector(settings.instagram),
    x: createXPublishingConnector(settings.x),
    facebook: createFacebookPublishingConnector(settings.facebook),
    tiktok: createTiktokPublishingConnector(settings.tiktok),
    youtube: createYoutubePublishingConnector(settings.youtube),
    telegram: createTelegramPublishingConnector(settings.telegram),
    bluesky: createBlueskyPublishingConnector(settings.bluesky),
  } satisfies Record<PlatformId, PublishingConnector>;
}
