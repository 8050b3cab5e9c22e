import { createFacebookMetricsConnector } from "#src/facebook/metrics/connector.ts";
import { createInstagramMetricsConnector } from "#src/instagram/metrics/connector.ts";
import type { PublishingSettings } from "#src/publishing/registry.ts";
import type { PlatformId } from "#src/registry.ts";
import type { MetricsConnector } from "./connector.ts";

/** The connectors of the platforms that offer this; the others are missing. */
export type MetricsConnectors = Readonly<Partial<Record<PlatformId, MetricsConnector>>>;

export function createMetricsConnectors(settings: PublishingSettings): MetricsConnectors {
  return {
    facebook: createFacebookMetricsConnector(settings.facebook),
    instagram: createInstagramMetricsConnector(settings.instagram),
  };
}
