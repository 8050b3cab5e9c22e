import {
  DeletionUpdatedSchema,
  TargetUpdatedSchema,
} from "@postrider/contracts/delivery/v1/delivery_events_pb";
import { TargetMetricsRefreshedSchema } from "@postrider/contracts/engagement/v1/engagement_events_pb";
import { type EventHandler, handleEvents } from "@postrider/shared/bus/consumer";
import { failpoint } from "@postrider/shared/process/failpoints";
import { applyTargetMetrics } from "#src/operations/apply-target-metrics.ts";
import {
  applyDeletionUpdates,
  applyTargetUpdates,
  createUpdateHandler,
} from "#src/operations/apply-target-updates.ts";

const onTargetMetricsRefreshed = handleEvents(TargetMetricsRefreshedSchema, async (tx, events) => {
  await applyTargetMetrics(
    tx,
    events.map(({ message }) => message),
  );
  failpoint("posts.in-consumer");
});

export const eventHandlers = {
  "delivery.events.v1": [
    handleEvents(TargetUpdatedSchema, createUpdateHandler(applyTargetUpdates)),
    handleEvents(DeletionUpdatedSchema, createUpdateHandler(applyDeletionUpdates)),
  ],
  "engagement.events.v1": [onTargetMetricsRefreshed],
} satisfies Readonly<Record<string, readonly EventHandler[]>>;
