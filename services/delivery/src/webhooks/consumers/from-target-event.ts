import { timestampDate } from "@bufbuild/protobuf/wkt";
import type {
  DeletionUpdatedSchema,
  TargetUpdated,
  TargetUpdatedSchema,
} from "@postrider/contracts/delivery/v1/delivery_events_pb";
import type { IncomingEvent } from "@postrider/shared/bus/consumer";
import {
  createWebhookEvent,
  type ReportedTarget,
  type WebhookEvent,
} from "#src/webhooks/domain/webhook-event.ts";

/**
 * The sequence number in the webhook events of a target combines the target's generation, version and deletion, so that
 * it rises with each update: versions count within a generation, and every deletion comes after every generation.
 */
const GENERATION = 2 ** 20;
const DELETIONS = 2 ** 40;

/**
 * Converts the update of a target to the webhook events that subscriptions receive; none while the target is
 * being published. Later updates of a published target make the same event `target.published`, and one with its id or
 * address on the platform also makes `target.updated`.
 */
export function fromTargetUpdated({
  message,
  recordedAt,
}: Pick<
  IncomingEvent<typeof TargetUpdatedSchema>,
  "message" | "recordedAt"
>): readonly WebhookEvent[] {
  const { workspaceId, postId, targetId, generation, version } = message;
  if (message.status !== "published" && message.status !== "failed") return [];
  const isPublished = message.status === "published";
  const occurredAt =
    isPublished && message.publishedAt !== undefined
      ? timestampDate(message.publishedAt)
      : required(recordedAt);
  const event = {
    workspaceId,
    type: isPublished ? ("target.published" as const) : ("target.failed" as const),
    occurredAt,
    sequence: generation * GENERATION + Number(version),
    source: { kind: "target" as const, postId, targetId, reported: toReported(message) },
  };
  const about = [targetId, generation, ...(isPublished ? [] : [version])].join(" ");
  const first = createWebhookEvent(event, about);
  if (!isPublished || !message.hasNewAddress) return [first];
  const later = { ...event, type: "target.updated" as const, occurredAt: required(recordedAt) };
  return [first, createWebhookEvent(later, [targetId, generation, version].join(" "))];
}

/**
 * Converts the update of a deletion to the webhook event that subscriptions receive; none while the deletion is open or
 * after it failed.
 */
export function fromDeletionUpdated({
  message,
  recordedAt,
}: Pick<
  IncomingEvent<typeof DeletionUpdatedSchema>,
  "message" | "recordedAt"
>): readonly WebhookEvent[] {
  const { workspaceId, postId, targetId, deletion, version } = message;
  if (message.status !== "deleted") return [];
  const event = {
    workspaceId,
    type: "target.deleted" as const,
    occurredAt: required(recordedAt),
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

function required(recordedAt: Date | undefined): Date {
  if (recordedAt === undefined) throw new Error("the event does not say when it happened");
  return recordedAt;
}
