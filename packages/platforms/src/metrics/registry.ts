import { createBlueskyMetricsConnector } from "#src/bluesky/metrics/connector.ts";
import { createFacebookMetricsConnector } from "#src/facebook/metrics/connector.ts";
import { createInstagramMetricsConnector } from "#src/instagram/metrics/connector.ts";
import type { PublishingSettings } from "#src/publishing/registry.ts";
import type { PlatformId } from "#src/registry.ts";
import { createTiktokMetricsConnector } from "#src/tiktok/metrics/connector.ts";
import { createXMetricsConnector } from "#src/x/metrics/connector.ts";
import { createYoutubeMetricsConnector } from "#src/youtube/metrics/connector.ts";
import type { MetricsConnector } from "./connector.ts";

/** The metrics connectors; a platform without one is absent. */
export type MetricsConnectors = Readonly<Partial<Record<PlatformId, MetricsConnector>>>;

export function createMetricsConnectors(settings: PublishingSettings): MetricsConnectors {
  return {
    bluesky: createBlueskyMetricsConnector(settings.bluesky),
    facebook: createFacebookMetricsConnector(settings.facebook),
    instagram: createInstagramMetricsConnector(settings.instagram),
    tiktok: createTiktokMetricsConnector(settings.tiktok),
    x: createXMetricsConnector(settings.x),
    youtube: createYoutubeMetricsConnector(settings.youtube),
  };
}
