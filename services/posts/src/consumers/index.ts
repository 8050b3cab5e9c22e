import type { EventHandler } from "@postrider/shared/bus/consumer";
import { onDeletionUpdated } from "#src/consumers/on-deletion-updated.ts";
import { onTargetUpdated } from "#src/consumers/on-target-updated.ts";

/** What `posts` does with the events of `delivery.events.v1`. */
export const deliveryHandlers: readonly EventHandler[] = [onTargetUpdated, onDeletionUpdated];
