import { DeletionUpdatedSchema } from "@postrider/contracts/delivery/v1/delivery_events_pb";
import { handleEvents } from "@postrider/shared/bus/consumer";
import { applyDeletionUpdates, createUpdateHandler } from "#src/operations/apply-target-updates.ts";

/** Stores what the delivery service reports about the deletion of published posts on platforms. */
export const onDeletionUpdated = handleEvents(
  DeletionUpdatedSchema,
  createUpdateHandler(applyDeletionUpdates),
);
