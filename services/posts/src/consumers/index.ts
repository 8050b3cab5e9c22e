import type { EventHandler } from "@postrider/shared/bus/consumer";
import { onDeletionUpdated } from "#src/consumers/on-deletion-updated.ts";
import { onTargetMetricsRefreshed } from "#src/consumers/on-target-metrics-refreshed.ts";
import { onTargetUpdated } from "#src/consumers/on-target-updated.ts";

/** The event handlers of the posts service, by topic. */
export const eventHandlers = {
  "delivery.events.v1": [onTargetUpdated, onDeletionUpdated],
  "engagement.events.v1": [onTargetMetricsRefreshed],
} satisfies Readonly<Record<string, readonly EventHandler[]>>;
