import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  PostFailedSchema,
  PostPartialSchema,
  PostPublishedSchema,
  PostPublishRequestedSchema,
} from "@postrider/contracts/posts/v1/posts_events_pb";
import { outboxEvent, type OutboxEvent } from "@postrider/shared/outbox";

/** A post, and the version that the change gave it. */
interface PostAtVersion {
  readonly workspaceId: string;
  readonly postId: string;
  readonly version: number;
}

interface PublishRequest extends PostAtVersion {
  readonly dueAt: Date;
  readonly publishBefore: Date;
  readonly targets: readonly {
    readonly targetId: string;
    readonly accountId: string;
    readonly platform: string;
    readonly generation: number;
  }[];
}

/** Asks delivery to publish targets. */
export function postPublishRequested(request: PublishRequest): OutboxEvent {
  const message = {
    workspaceId: request.workspaceId,
    postId: request.postId,
    version: BigInt(request.version),
    targets: request.targets.map(({ targetId, accountId, platform, generation }) => ({
      targetId,
      accountId,
      platform,
      generation,
    })),
    dueAt: timestampFromDate(request.dueAt),
    publishBefore: timestampFromDate(request.publishBefore),
  };
  return outboxEvent(PostPublishRequestedSchema, message, request.postId);
}

const SETTLED = {
  published: PostPublishedSchema,
  partial: PostPartialSchema,
  failed: PostFailedSchema,
};

/** A status in which no target is open. */
export type SettledStatus = keyof typeof SETTLED;

export function isSettled(status: string): status is SettledStatus {
  return Object.hasOwn(SETTLED, status);
}

/** Says that every target of a post has its outcome. */
export function postSettled(
  status: SettledStatus,
  post: PostAtVersion & { readonly occurredAt: Date },
): OutboxEvent {
  const message = {
    workspaceId: post.workspaceId,
    postId: post.postId,
    version: BigInt(post.version),
    occurredAt: timestampFromDate(post.occurredAt),
  };
  return outboxEvent(SETTLED[status], message, post.postId);
}
