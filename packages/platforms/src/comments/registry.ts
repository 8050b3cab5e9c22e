import { createBlueskyCommentsConnector } from "#src/bluesky/comments/connector.ts";
import type { PublishingSettings } from "#src/publishing/registry.ts";
import type { PlatformId } from "#src/registry.ts";
import type { CommentsConnector } from "./connector.ts";

/** The connectors of the platforms that offer this; the others are missing. */
export type CommentsConnectors = Readonly<Partial<Record<PlatformId, CommentsConnector>>>;

export function createCommentsConnectors(settings: PublishingSettings): CommentsConnectors {
  return {
    bluesky: createBlueskyCommentsConnector(settings.bluesky),
  };
}
