import {
  createPublishingConnectors,
  type PublishingConnectors,
  type PublishingSettings,
} from "#src/publishing/registry.ts";

/**
 * The connectors of live checks. On Facebook the post is always created unpublished first, also when `FACEBOOK_TWO_PHASE` is off
 * and posts are published with one call, because no other post there is invisible to readers.
 */
export function createLiveCheckConnectors(settings: PublishingSettings): PublishingConnectors {
  return createPublishingConnectors({
    ...settings,
    facebook: { ...settings.facebook, isTwoPhase: true },
  });
}
