import type { EventHandler } from "@postrider/shared/bus/consumer";
import { onDeletionUpdated } from "#src/consumers/on-deletion-updated.ts";
import { onTargetUpdated } from "#src/consumers/on-target-updated.ts";

/** The event handlers of the posts service for the topic `delivery.events.v1`. */
export const deliveryHandlers: readonly EventHandler[] = [onTargetUpdated, onDeletionUpdated];
