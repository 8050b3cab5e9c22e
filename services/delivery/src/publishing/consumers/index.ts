import type { EventHandler } from "@postrider/shared/bus/consumer";
import { onPostDeletionRequested } from "./on-post-deletion-requested.ts";
import { onPostPublishRequested } from "./on-post-publish-requested.ts";

export const POSTS_TOPIC = "posts.events.v1";

/** What delivery does with the events of posts; the others of that topic do not concern it. */
export const postsHandlers: readonly EventHandler[] = [
  onPostPublishRequested,
  onPostDeletionRequested,
];
