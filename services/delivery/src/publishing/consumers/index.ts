import type { EventHandler } from "@postrider/shared/bus/consumer";
import { onPostDeletionRequested } from "./on-post-deletion-requested.ts";
import { onPostPublishRequested } from "./on-post-publish-requested.ts";

export const POSTS_TOPIC = "posts.events.v1";

/**
 * Handlers of the events that the posts service publishes. Events of other types in the same topic
 * are skipped.
 */
export const postsHandlers: readonly EventHandler[] = [
  onPostPublishRequested,
  onPostDeletionRequested,
];
