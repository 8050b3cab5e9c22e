import { DeletionUpdatedSchema } from "@postrider/contracts/delivery/v1/delivery_events_pb";
import { handleEvents } from "@postrider/shared/bus/consumer";
import { failpoint } from "@postrider/shared/process/failpoints";
import { applyDeletionNews } from "#src/operations/target-updates.ts";

/** A deletion moved: its target follows. */
export const onDeletionUpdated = handleEvents(DeletionUpdatedSchema, async (tx, events) => {
  const news = events.map(({ message }) => message);
  await applyDeletionNews(
    tx,
    news,
    new Map(events.map(({ message, cause }) => [message.postId, cause])),
  );
  failpoint("posts.in-consumer");
});
