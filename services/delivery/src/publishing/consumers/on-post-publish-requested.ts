import { timestampDate } from "@bufbuild/protobuf/wkt";
import {
  PostPublishRequestedSchema,
  type PostPublishRequested,
} from "@postrider/contracts/posts/v1/posts_events_pb";
import { isPlatformId } from "@postrider/platforms/platform-id";
import { handleEvents } from "@postrider/shared/bus/consumer";
import { failpoint } from "@postrider/shared/process/failpoints";
import type { Cause } from "@postrider/shared/telemetry/cause";
import { insertRequests, type PublishRequest } from "#src/publishing/db/tasks.ts";

function toRequests(event: PostPublishRequested, cause: Cause): readonly PublishRequest[] {
  const { workspaceId, postId, dueAt, publishBefore } = event;
  if (dueAt === undefined || publishBefore === undefined)
    throw new Error("the event has no due_at or publish_before");
  return event.targets.map(({ targetId, accountId, platform, generation }) => {
    if (!isPlatformId(platform))
      throw new Error(
        "the event requests a target on a platform that this version does not support",
      );
    return {
      targetId,
      generation,
      workspaceId,
      postId,
      accountId,
      platform,
      dueAt: timestampDate(dueAt),
      publishBefore: timestampDate(publishBefore),
      cause,
    };
  });
}

/** Existing publish tasks stay, so that a repeated event does not publish a post again. */
export const onPostPublishRequested = handleEvents(
  PostPublishRequestedSchema,
  async (tx, events) => {
    const requests = events.flatMap(({ message, cause }) => toRequests(message, cause));
    if (requests.length > 0) await insertRequests(tx, requests);
    failpoint("delivery.in-consumer");
  },
);
