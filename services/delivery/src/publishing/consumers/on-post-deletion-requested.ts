import {
  PostDeletionRequestedSchema,
  type PostDeletionRequested,
} from "@postrider/contracts/posts/v1/posts_events_pb";
import { isPlatformId } from "@postrider/platforms/platform-id";
import { handleEvents } from "@postrider/shared/bus/consumer";
import { failpoint } from "@postrider/shared/process/failpoints";
import type { Cause } from "@postrider/shared/telemetry/cause";
import { insertDeletions, type DeletionRequest } from "#src/publishing/db/deletions.ts";

function toRequests(
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
export const onPostDeletionRequested = handleEvents(
  PostDeletionRequestedSchema,
  async (tx, events) => {
    const requests = events.flatMap(({ message, cause }) => toRequests(message, cause));
    if (requests.length > 0) await insertDeletions(tx, requests);
    failpoint("delivery.in-consumer");
  },
);
