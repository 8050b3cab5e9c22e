import type { EventHandler } from "@postrider/shared/bus/consumer";
import { onAccountConnected } from "./on-account-connected.ts";
import { onDeletionUpdated } from "./on-deletion-updated.ts";
import { onTargetUpdated } from "./on-target-updated.ts";

/**
 * Consumer group of the engagement part of the delivery service. It handles topics independently of publishing and webhooks.
 */
export const ENGAGEMENT_GROUP = "delivery.engagement";

/**
 * Creates the handlers of the bus events that engagement needs, by topic.
 * @param platforms The platforms that have metrics.
 */
export function createEngagementHandlers(
  platforms: readonly string[],
): Readonly<Record<string, readonly EventHandler[]>> {
  return {
    "accounts.events.v1": [onAccountConnected],
    "delivery.events.v1": [onTargetUpdated(platforms), onDeletionUpdated],
  };
}
