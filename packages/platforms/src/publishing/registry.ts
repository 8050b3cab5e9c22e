import type { AllowedAddress } from "@postrider/shared/http/allowed-addresses";
import { OutboundClient } from "@postrider/shared/http/outbound-client";
import { createBlueskyConnector } from "#src/bluesky/publishing/bluesky.ts";
import {
  createFacebookConnector,
  type FacebookOptions,
} from "#src/facebook/publishing/facebook.ts";
import {
  createInstagramConnector,
  type InstagramOptions,
} from "#src/instagram/publishing/instagram.ts";
import type { PlatformId } from "#src/registry.ts";
import { createTelegramConnector } from "#src/telegram/publishing/telegram.ts";
import { createTiktokConnector } from "#src/tiktok/publishing/tiktok.ts";
import { createXConnector } from "#src/x/publishing/x.ts";
import { createYoutubeConnector } from "#src/youtube/publishing/youtube.ts";
import type { Connector } from "./connector.ts";

export interface ConnectorConfig {
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
export function createConnectors(config: ConnectorConfig): Partial<Record<PlatformId, Connector>> {
  return {
    instagram: createInstagramConnector(config.instagram),
    x: createXConnector({ baseUrl: config.xBaseUrl, mayResend: config.xMayResend }),
    facebook: createFacebookConnector(config.facebook),
    youtube: createYoutubeConnector({ baseUrl: config.youtubeBaseUrl }),
    tiktok: createTiktokConnector({ baseUrl: config.tiktokBaseUrl }),
    telegram: createTelegramConnector({ baseUrl: config.telegramBaseUrl }),
    bluesky: createBlueskyConnector({
      baseUrl: config.blueskyBaseUrl,
      videoBaseUrl: config.blueskyVideoBaseUrl,
      pages: new OutboundClient({ allow: config.outboundAllow ?? [] }),
    }),
  };
}
