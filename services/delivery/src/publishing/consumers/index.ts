import { timestampDate } from "@bufbuild/protobuf/wkt";
import { PostPublishRequestedSchema as BacklogRequestSchema } from "@postrider/contracts/backlog/v1/backlog_events_pb";
import {
  type PostDeletionRequested,
  PostDeletionRequestedSchema,
  type PostPublishRequested,
  PostPublishRequestedSchema,
} from "@postrider/contracts/posts/v1/posts_events_pb";
import { isPlatformId } from "@postrider/platforms/platform-id";
import { type EventHandler, handleEvents } from "@postrider/shared/bus/consumer";
import type { TransactionSql } from "@postrider/shared/postgres";
import { failpoint } from "@postrider/shared/process/failpoints";
import type { Cause } from "@postrider/shared/telemetry/cause";
import { type DeletionRequest, insertDeletions } from "#src/publishing/db/deletions.ts";
import { insertRequests, type PublishRequest } from "#src/publishing/db/tasks.ts";

type RequestEvent = Omit<PostPublishRequested, "$typeName" | "exhausted">;

function toRequests(event: RequestEvent, cause: Cause): readonly PublishRequest[] {
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
async function queueTargets(
  tx: TransactionSql,
  events: readonly { readonly message: RequestEvent; readonly cause: Cause }[],
): Promise<void> {
  const requests = events.flatMap(({ message, cause }) => toRequests(message, cause));
  if (requests.length > 0) await insertRequests(tx, requests);
  failpoint("delivery.in-consumer");
}

function toDeletions(
  { workspaceId, postId, targets }: PostDeletionRequested,
  cause: Cause,
): readonly DeletionRequest[] {
  return targets.map(({ targetId, accountId, platform, externalId, deletion }) => {
    if (!isPlatformId(platform))
      throw new Error(
        "the event requests a deletion on a platform that this version does not support",
      );
    return { targetId, deletion, workspaceId, postId, accountId, platform, externalId, cause };
  });
}

/** Existing deletion tasks stay, so that a repeated event does not delete a post again. */
const onPostDeletionRequested = handleEvents(PostDeletionRequestedSchema, async (tx, events) => {
  const requests = events.flatMap(({ message, cause }) => toDeletions(message, cause));
  if (requests.length > 0) await insertDeletions(tx, requests);
  failpoint("delivery.in-consumer");
});

/** The handlers by topic. Events of other types in the same topic are skipped. */
export const PUBLISHING_HANDLERS = {
  "backlog.events.v1": [handleEvents(BacklogRequestSchema, queueTargets)],
  "posts.events.v1": [
    handleEvents(PostPublishRequestedSchema, queueTargets),
    onPostDeletionRequested,
  ],
} satisfies Readonly<Record<string, readonly EventHandler[]>>;
