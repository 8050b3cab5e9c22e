import { TargetUpdatedSchema } from "@postrider/contracts/delivery/v1/delivery_events_pb";
import { handleEvents } from "@postrider/shared/bus/consumer";
import { createUpdateHandler, applyTargetUpdates } from "#src/operations/apply-target-updates.ts";

/** Stores what the delivery service reports about targets, and updates their posts. */
export const onTargetUpdated = handleEvents(
  TargetUpdatedSchema,
  createUpdateHandler(applyTargetUpdates),
);
