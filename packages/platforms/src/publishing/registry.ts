import type { AllowedAddress } from "@postrider/shared/http/allowed-addresses";
import { OutboundClient } from "@postrider/shared/http/outbound-client";
import { createBlueskyPublishingConnector } from "#src/bluesky/publishing/connector.ts";
import {
  createFacebookPublishingConnector,
  type FacebookOptions,
} from "#src/facebook/publishing/connector.ts";
import {
  createInstagramPublishingConnector,
  type InstagramOptions,
} from "#src/instagram/publishing/connector.ts";
import type { PublishingConnector } from "#src/publishing/connector.ts";
import type { PlatformId } from "#src/registry.ts";
import { createTelegramPublishingConnector } from "#src/telegram/publishing/connector.ts";
import { createTiktokPublishingConnector } from "#src/tiktok/publishing/connector.ts";
import { createXPublishingConnector } from "#src/x/publishing/connector.ts";
import { createYoutubePublishingConnector } from "#src/youtube/publishing/connector.ts";

export interface PublishingSettings {
  readonly instagram: InstagramOptions;
  readonly facebook: FacebookOptions;
  readonly xBaseUrl: string;
  readonly tiktokBaseUrl: string;
  readonly telegramBaseUrl: string;
  readonly blueskyBaseUrl: string;
  readonly blueskyVideoBaseUrl: string;
  /** Private addresses whose pages may be read for the cards of links. */
  readonly outboundAllow?: readonly AllowedAddress[];
  readonly youtubeBaseUrl: string;
  /** Whether a post on X may be sent once more after its absence was proved. */
  readonly xMayResend: boolean;
}

/** The connectors of this build. A platform without one is listed and not available. */
export function createPublishingConnectors(
  config: PublishingSettings,
): Partial<Record<PlatformId, PublishingConnector>> {
  return {
    instagram: createInstagramPublishingConnector(config.instagram),
    x: createXPublishingConnector({ baseUrl: config.xBaseUrl, mayResend: config.xMayResend }),
    facebook: createFacebookPublishingConnector(config.facebook),
    youtube: createYoutubePublishingConnector({ baseUrl: config.youtubeBaseUrl }),
    tiktok: createTiktokPublishingConnector({ baseUrl: config.tiktokBaseUrl }),
    telegram: createTelegramPublishingConnector({ baseUrl: config.telegramBaseUrl }),
    bluesky: createBlueskyPublishingConnector({
      baseUrl: config.blueskyBaseUrl,
      videoBaseUrl: config.blueskyVideoBaseUrl,
      pages: new OutboundClient({ allow: config.outboundAllow ?? [] }),
    }),
  };
}
