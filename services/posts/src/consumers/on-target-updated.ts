import { TargetUpdatedSchema } from "@postrider/contracts/delivery/v1/delivery_events_pb";
import { handleEvents } from "@postrider/shared/bus/consumer";
import { failpoint } from "@postrider/shared/process/failpoints";
import { applyTargetNews } from "#src/operations/target-updates.ts";

/** A target moved: it and its post follow. */
export const onTargetUpdated = handleEvents(TargetUpdatedSchema, async (tx, events) => {
  const news = events.map(({ message }) => message);
  await applyTargetNews(
    tx,
    news,
    new Map(events.map(({ message, cause }) => [message.postId, cause])),
  );
  failpoint("posts.in-consumer");
});
