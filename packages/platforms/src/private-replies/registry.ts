import { createFacebookPrivateRepliesConnector } from "#src/facebook/private-replies/connector.ts";
import { createInstagramPrivateRepliesConnector } from "#src/instagram/private-replies/connector.ts";
import type { PublishingSettings } from "#src/publishing/registry.ts";
import type { PlatformId } from "#src/registry.ts";
import type { PrivateRepliesConnector } from "./connector.ts";

/** The connectors for private replies; a platform without one is absent. */
export type PrivateRepliesConnectors = Readonly<
  Partial<Record<PlatformId, PrivateRepliesConnector>>
>;

export function createPrivateRepliesConnectors(
  settings: PublishingSettings,
): PrivateRepliesConnectors {
  return {
    facebook: createFacebookPrivateRepliesConnector(settings.facebook),
    instagram: createInstagramPrivateRepliesConnector(settings.instagram),
  };
}
