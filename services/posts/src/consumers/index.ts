import type { EventHandler } from "@postrider/shared/bus/consumer";
import { onDeletionUpdated } from "#src/consumers/on-deletion-updated.ts";
import { onTargetMetricsRefreshed } from "#src/consumers/on-target-metrics-refreshed.ts";
import { onTargetUpdated } from "#src/consumers/on-target-updated.ts";

/** The event handlers of the posts service, by topic. */
export const eventHandlers = {
  // While an installation is updated, a relay of the previous release sends the events with metrics to the topic
  // `delivery.events.v1`.
  "delivery.events.v1": [onTargetUpdated, onDeletionUpdated, onTargetMetricsRefreshed],
  "engagement.events.v1": [onTargetMetricsRefreshed],
} satisfies Readonly<Record<string, readonly EventHandler[]>>;
