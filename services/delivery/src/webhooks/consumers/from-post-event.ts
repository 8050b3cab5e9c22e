import type { Timestamp } from "@bufbuild/protobuf/wkt";
import type { PostPublishRequested } from "@postrider/contracts/posts/v1/posts_events_pb";
import { requiredTime } from "#src/webhooks/consumers/required-time.ts";
import { createWebhookEvent, type WebhookEvent } from "#src/webhooks/domain/webhook-event.ts";

/** What every webhook event about a post says. */
interface PostMoment {
  readonly workspaceId: string;
  readonly postId: string;
  readonly version: bigint;
  readonly occurredAt?: Timestamp | undefined;
}

type PostEventType =
  | "post.scheduled"
  | "post.published"
  | "post.partial"
  | "post.failed"
  | "post.cancelled"
  | "post.deleted";

/** Converts a change of a post to the webhook event that subscriptions receive. */
export function fromPostEvent(type: PostEventType, post: PostMoment): WebhookEvent {
  const { workspaceId, postId, version } = post;
  return createWebhookEvent(
    {
      workspaceId,
      type,
      occurredAt: requiredTime(post.occurredAt),
      sequence: Number(version),
      source: { kind: type === "post.deleted" ? "deleted_post" : "post", postId },
    },
    `${postId} ${version}`,
  );
}

/**
 * Converts a publish request to the webhook event that the post is being published. The sweep of the posts service
 * repeats requests, also in parts and with a newer version of the post. All repetitions of a request have the same due
 * time, and therefore make the same webhook event.
 */
export function fromPublishRequest(request: PostPublishRequested): WebhookEvent {
  const { workspaceId, postId, version } = request;
  const occurredAt = requiredTime(request.dueAt);
  return createWebhookEvent(
    {
      workspaceId,
      type: "post.publishing",
      occurredAt,
      sequence: Number(version),
      source: { kind: "post", postId },
    },
    `${postId} ${occurredAt.getTime()}`,
  );
}
