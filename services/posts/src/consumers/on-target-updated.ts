import { TargetUpdatedSchema } from "@postrider/contracts/delivery/v1/delivery_events_pb";
import { handleEvents } from "@postrider/shared/bus/consumer";
import { failpoint } from "@postrider/shared/process/failpoints";
import { applyTargetUpdates } from "#src/operations/apply-target-updates.ts";

/** Stores what the delivery service reports about targets, and updates their posts. */
export const onTargetUpdated = handleEvents(TargetUpdatedSchema, async (tx, events) => {
  const updates = events.map(({ message }) => message);
  await applyTargetUpdates(
    tx,
    updates,
    new Map(events.map(({ message, cause }) => [message.postId, cause])),
  );
  failpoint("posts.in-consumer");
});
