import type { PublishingSettings } from "#src/publishing/registry.ts";
import type { PlatformId } from "#src/registry.ts";
import type { PrivateRepliesConnector } from "./connector.ts";

/** The connectors of the platforms that offer this; the others are missing. */
export type PrivateRepliesConnectors = Readonly<
  Partial<Record<PlatformId, PrivateRepliesConnector>>
>;

export function createPrivateRepliesConnectors(
  _settings: PublishingSettings,
): PrivateRepliesConnectors {
  return {};
}
