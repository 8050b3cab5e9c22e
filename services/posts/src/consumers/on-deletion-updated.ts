import { DeletionUpdatedSchema } from "@postrider/contracts/delivery/v1/delivery_events_pb";
import { handleEvents } from "@postrider/shared/bus/consumer";
import { failpoint } from "@postrider/shared/process/failpoints";
import { applyDeletionUpdates } from "#src/operations/apply-target-updates.ts";

/** Stores what the delivery service reports about the deletion of published posts on platforms. */
export const onDeletionUpdated = handleEvents(DeletionUpdatedSchema, async (tx, events) => {
  const updates = events.map(({ message }) => message);
  await applyDeletionUpdates(
    tx,
    updates,
    new Map(events.map(({ message, cause }) => [message.postId, cause])),
  );
  failpoint("posts.in-consumer");
});
