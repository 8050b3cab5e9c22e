import { createFacebookPrivateRepliesConnector } from "#src/facebook/private-replies/connector.ts";
import { createInstagramPrivateRepliesConnector } from "#src/instagram/private-replies/connector.ts";
import type { PublishingSettings } from "#src/publishing/registry.ts";
import type { PlatformId } from "#src/registry.ts";
import type { PrivateRepliesConnector } from "./connector.ts";

/** The connectors of the platforms that offer this; the others are missing. */
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
