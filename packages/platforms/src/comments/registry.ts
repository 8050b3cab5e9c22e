import { createBlueskyCommentsConnector } from "#src/bluesky/comments/connector.ts";
import { createFacebookCommentsConnector } from "#src/facebook/comments/connector.ts";
import { createInstagramCommentsConnector } from "#src/instagram/comments/connector.ts";
import type { PublishingSettings } from "#src/publishing/registry.ts";
import type { PlatformId } from "#src/registry.ts";
import { createXCommentsConnector } from "#src/x/comments/connector.ts";
import { createYoutubeCommentsConnector } from "#src/youtube/comments/connector.ts";
import type { CommentsConnector } from "./connector.ts";

/** The comments connectors; a platform without one is absent. */
export type CommentsConnectors = Readonly<Partial<Record<PlatformId, CommentsConnector>>>;

export function createCommentsConnectors(settings: PublishingSettings): CommentsConnectors {
  return {
    bluesky: createBlueskyCommentsConnector(settings.bluesky),
    facebook: createFacebookCommentsConnector(settings.facebook),
    instagram: createInstagramCommentsConnector(settings.instagram),
    x: createXCommentsConnector(settings.x),
    youtube: createYoutubeCommentsConnector(settings.youtube),
  };
}
