import { DeletionUpdatedSchema } from "@postrider/contracts/delivery/v1/delivery_events_pb";
import { handleEvents } from "@postrider/shared/bus/consumer";
import { deleteTargetMetrics } from "#src/engagement/db/target-metrics.ts";

/** Deletes the metrics of targets that were deleted from their platforms, with their history. */
export const onDeletionUpdated = handleEvents(DeletionUpdatedSchema, async (tx, events) => {
  const deleted = events.filter(({ message }) => message.status === "deleted");
  if (deleted.length === 0) return;
  await deleteTargetMetrics(
    tx,
    deleted.map(({ message }) => message.targetId),
  );
});
