import type { DescMessage } from "@bufbuild/protobuf";
import { timestampDate, type Timestamp } from "@bufbuild/protobuf/wkt";
import type {
  DeletionUpdatedSchema,
  TargetUpdated,
  TargetUpdatedSchema,
} from "@postrider/contracts/delivery/v1/delivery_events_pb";
import type {
  PostPublishRequested,
  QuotaExhaustion,
} from "@postrider/contracts/posts/v1/posts_events_pb";
import { toDailyQuota, toMonthlyQuota } from "@postrider/rest/quota/mapping";
import type { IncomingEvent } from "@postrider/shared/bus/consumer";
import {
  createWebhookEvent,
  type EventSource,
  type EventType,
  type ExhaustedQuota,
  type ReportedTarget,
  type WebhookEvent,
} from "#src/webhooks/domain/webhook-event.ts";

function timeOf(time: Date | Timestamp | undefined): Date {
  if (time === undefined) throw new Error("the event does not say when it happened");
  return time instanceof Date ? time : timestampDate(time);
}

interface Change {
  readonly workspaceId: string;
  readonly version: bigint;
  readonly occurredAt?: Timestamp | undefined;
}

/** Returns the webhook event about the version of a resource that a change has made. */
export function fromChange(
  type: EventType,
  { workspaceId, version, occurredAt }: Change,
  id: string,
  source: EventSource,
): WebhookEvent {
  const event = {
    workspaceId,
    type,
    occurredAt: timeOf(occurredAt),
    sequence: Number(version),
    source,
  };
  return createWebhookEvent(event, `${id} ${version}`);
}

type PostChange = Change & { readonly postId: string };
type PostEventType = Extract<EventType, `post.${string}`>;

export function fromPost(type: PostEventType, post: PostChange): WebhookEvent {
  const kind = type === "post.deleted" ? "deleted_post" : "post";
  return fromChange(type, post, post.postId, { kind, postId: post.postId });
}

/**
 * Returns the event post.publishing. The sweep of the posts service repeats requests, also in parts
 * and with a newer version of the post. All repetitions of a request have the same due time, and so
 * make the same webhook event.
 */
export function fromPublishRequest(
  request: Pick<PostPublishRequested, "workspaceId" | "postId" | "version" | "dueAt">,
): WebhookEvent {
  const { workspaceId, postId, version } = request;
  const occurredAt = timeOf(request.dueAt);
  const source = { kind: "post", postId } as const;
  const sequence = Number(version);
  return createWebhookEvent(
    { workspaceId, type: "post.publishing", occurredAt, sequence, source },
    `${postId} ${occurredAt.getTime()}`,
  );
}

/** Returns an event quota.exhausted for each used-up counter and period. */
export function fromExhaustions(
  workspaceId: string,
  exhausted: readonly QuotaExhaustion[],
): readonly WebhookEvent[] {
  return exhausted.map(({ subject, period, exhaustedAt, quota }) => {
    const object = toQuota(quota);
    return createWebhookEvent(
      {
        workspaceId,
        type: "quota.exhausted",
        occurredAt: timeOf(exhaustedAt),
        sequence: object.used + object.reserved,
        source: { kind: "quota", quota: object },
      },
      `${workspaceId} ${subject} ${period}`,
    );
  });
}

function toQuota(quota: QuotaExhaustion["quota"]): ExhaustedQuota & {
  readonly used: number;
  readonly reserved: number;
} {
  if (quota.case === "monthly") return toMonthlyQuota(quota.value);
  if (quota.case === "daily") return toDailyQuota(quota.value);
  throw new Error("the event does not say which quota is used up");
}

type Update<T extends DescMessage> = Pick<IncomingEvent<T>, "message" | "recordedAt">;

/** Versions count within a generation, and every deletion comes after every generation. */
const GENERATION = 2 ** 20;
const DELETIONS = 2 ** 40;

/**
 * Returns the webhook events of an update of a target; none while it is being published. Later
 * updates of a published target make the same event `target.published`, and one with its id or
 * address on the platform, or with what became of it there, also makes `target.updated`.
 */
export function fromTargetUpdated({
  message,
  recordedAt,
}: Update<typeof TargetUpdatedSchema>): readonly WebhookEvent[] {
  const { workspaceId, postId, targetId, generation, version } = message;
  if (message.status !== "published" && message.status !== "failed") return [];
  const isPublished = message.status === "published";
  const publishedAt = isPublished ? message.publishedAt : undefined;
  const event = {
    workspaceId,
    type: isPublished ? ("target.published" as const) : ("target.failed" as const),
    occurredAt: timeOf(publishedAt ?? recordedAt),
    sequence: generation * GENERATION + Number(version),
    source: { kind: "target" as const, postId, targetId, reported: toReported(message) },
  };
  const about = [targetId, generation, ...(isPublished ? [] : [version])].join(" ");
  const first = createWebhookEvent(event, about);
  if (!isPublished || !message.isLaterUpdate) return [first];
  const later = { ...event, type: "target.updated" as const, occurredAt: timeOf(recordedAt) };
  return [first, createWebhookEvent(later, [targetId, generation, version].join(" "))];
}

/** Returns the event target.deleted; none while the deletion is open or after it failed. */
export function fromDeletionUpdated({
  message,
  recordedAt,
}: Update<typeof DeletionUpdatedSchema>): readonly WebhookEvent[] {
  const { workspaceId, postId, targetId, deletion, version } = message;
  if (message.status !== "deleted") return [];
  const event = {
    workspaceId,
    type: "target.deleted" as const,
    occurredAt: timeOf(recordedAt),
    sequence: DELETIONS + deletion * GENERATION + Number(version),
    source: {
      kind: "target" as const,
      postId,
      targetId,
      reported: { status: "deleted" as const, error: null },
    },
  };
  return [createWebhookEvent(event, `${targetId} ${deletion} ${version}`)];
}

function toReported(message: TargetUpdated): ReportedTarget {
  const { externalId, permalink, publishedAt, errorCode, attemptCount } = message;
  return {
    status: message.status === "published" ? "published" : "failed",
    externalId: externalId ?? null,
    permalink: permalink ?? null,
    publishedAt: publishedAt === undefined ? null : timestampDate(publishedAt).toISOString(),
    error:
      errorCode === undefined
        ? null
        : {
            code: errorCode,
            message: message.errorMessage ?? "",
            retryable: message.errorRetryable,
          },
    attemptCount,
  };
}
