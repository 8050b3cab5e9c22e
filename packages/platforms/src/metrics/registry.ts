import type { PublishingSettings } from "#src/publishing/registry.ts";
import type { PlatformId } from "#src/registry.ts";
import type { MetricsConnector } from "./connector.ts";

/** The connectors of the platforms that offer this; the others are missing. */
export type MetricsConnectors = Readonly<Partial<Record<PlatformId, MetricsConnector>>>;

export function createMetricsConnectors(_settings: PublishingSettings): MetricsConnectors {
  return {};
}
