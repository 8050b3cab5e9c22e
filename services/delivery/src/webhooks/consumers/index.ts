import {
  AccountConnectedSchema,
  AccountDisconnectedSchema,
  AccountReconnectRequiredSchema,
} from "@postrider/contracts/accounts/v1/accounts_events_pb";
import {
  DeletionUpdatedSchema,
  TargetUpdatedSchema,
} from "@postrider/contracts/delivery/v1/delivery_events_pb";
import {
  AutomationRunCompletedSchema,
  CommentActionCompletedSchema,
} from "@postrider/contracts/engagement/v1/engagement_events_pb";
import { MediaReadySchema } from "@postrider/contracts/media/v1/media_events_pb";
import {
  PostCancelledSchema,
  PostDeletedSchema,
  PostFailedSchema,
  PostPartialSchema,
  PostPublishedSchema,
  PostPublishRequestedSchema,
  PostScheduledSchema,
} from "@postrider/contracts/posts/v1/posts_events_pb";
import type { EventHandler } from "@postrider/shared/bus/consumer";
import { fanOutEvents } from "#src/webhooks/consumers/fan-out-events.ts";
import { fromAccountEvent } from "#src/webhooks/consumers/from-account-event.ts";
import {
  fromAutomationRunCompleted,
  fromCommentActionCompleted,
} from "#src/webhooks/consumers/from-engagement-event.ts";
import { fromExhaustions } from "#src/webhooks/consumers/from-exhaustion.ts";
import { fromMediaReady } from "#src/webhooks/consumers/from-media-ready.ts";
import { fromPostEvent, fromPublishRequest } from "#src/webhooks/consumers/from-post-event.ts";
import {
  fromDeletionUpdated,
  fromTargetUpdated,
} from "#src/webhooks/consumers/from-target-event.ts";
import type { Backlogs } from "#src/webhooks/operations/backlogs.ts";

/**
 * Consumer group of the webhooks part of the delivery service. It handles topics independently of publishing, whose
 * group has the name of the service.
 */
export const WEBHOOKS_GROUP = "delivery.webhooks";

type OnEvents = ReturnType<typeof fanOutEvents>;

function createEngagementHandlers(on: OnEvents): readonly EventHandler[] {
  return [
    on(CommentActionCompletedSchema, ({ message }) => [fromCommentActionCompleted(message)]),
    on(AutomationRunCompletedSchema, ({ message }) => [fromAutomationRunCompleted(message)]),
  ];
}

function createPostHandlers(on: OnEvents): readonly EventHandler[] {
  return [
    on(PostScheduledSchema, ({ message }) => [
      fromPostEvent("post.scheduled", message),
      ...fromExhaustions(message.workspaceId, message.exhausted),
    ]),
    on(PostPublishRequestedSchema, ({ message }) => [
      fromPublishRequest(message),
      ...fromExhaustions(message.workspaceId, message.exhausted),
    ]),
    on(PostPublishedSchema, ({ message }) => [fromPostEvent("post.published", message)]),
    on(PostPartialSchema, ({ message }) => [fromPostEvent("post.partial", message)]),
    on(PostFailedSchema, ({ message }) => [fromPostEvent("post.failed", message)]),
    on(PostCancelledSchema, ({ message }) => [fromPostEvent("post.cancelled", message)]),
    on(PostDeletedSchema, ({ message }) => [fromPostEvent("post.deleted", message)]),
  ];
}

/**
 * Returns the handlers of the bus events that become webhook events, by topic. Events of other types in the same topic are
 * skipped.
 */
export function createWebhookHandlers(
  backlogs: Backlogs,
): Readonly<Record<string, readonly EventHandler[]>> {
  const on = fanOutEvents(backlogs);
  return {
    "accounts.events.v1": [
      on(AccountConnectedSchema, ({ message }) => [fromAccountEvent("account.connected", message)]),
      on(AccountReconnectRequiredSchema, ({ message }) => [
        fromAccountEvent("account.reconnect_required", message),
      ]),
      on(AccountDisconnectedSchema, ({ message }) => [
        fromAccountEvent("account.disconnected", message),
      ]),
    ],
    "delivery.events.v1": [
      on(TargetUpdatedSchema, fromTargetUpdated),
      on(DeletionUpdatedSchema, fromDeletionUpdated),
    ],
    "engagement.events.v1": createEngagementHandlers(on),
    "media.events.v1": [on(MediaReadySchema, ({ message }) => [fromMediaReady(message)])],
    "posts.events.v1": createPostHandlers(on),
  };
}
