import {
  AccountConnectedSchema,
  AccountDisconnectedSchema,
  AccountReconnectRequiredSchema,
  type AccountConnected,
  type AccountDisconnected,
  type AccountReconnectRequired,
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
import {
  fromChange,
  fromDeletionUpdated,
  fromExhaustions,
  fromPost,
  fromPublishRequest,
  fromTargetUpdated,
} from "#src/webhooks/consumers/from-events.ts";
import type { EventType } from "#src/webhooks/domain/webhook-event.ts";
import type { Backlogs } from "#src/webhooks/operations/backlogs.ts";

/** It handles topics independently of publishing, whose group has the name of the service. */
export const WEBHOOKS_GROUP = "delivery.webhooks";

type OnEvents = ReturnType<typeof fanOutEvents>;
type AccountEvent = AccountConnected | AccountDisconnected | AccountReconnectRequired;

function fromAccount(type: Extract<EventType, `account.${string}`>, message: AccountEvent) {
  const { accountId, platform } = message;
  return [fromChange(type, message, accountId, { kind: "account", accountId, platform })];
}

function createPostHandlers(on: OnEvents): readonly EventHandler[] {
  return [
    on(PostScheduledSchema, ({ message }) => [
      fromPost("post.scheduled", message),
      ...fromExhaustions(message.workspaceId, message.exhausted),
    ]),
    on(PostPublishRequestedSchema, ({ message }) => [
      fromPublishRequest(message),
      ...fromExhaustions(message.workspaceId, message.exhausted),
    ]),
    on(PostPublishedSchema, ({ message }) => [fromPost("post.published", message)]),
    on(PostPartialSchema, ({ message }) => [fromPost("post.partial", message)]),
    on(PostFailedSchema, ({ message }) => [fromPost("post.failed", message)]),
    on(PostCancelledSchema, ({ message }) => [fromPost("post.cancelled", message)]),
    on(PostDeletedSchema, ({ message }) => [fromPost("post.deleted", message)]),
  ];
}

function createEngagementHandlers(on: OnEvents): readonly EventHandler[] {
  return [
    on(CommentActionCompletedSchema, ({ message }) => {
      const { actionId } = message;
      const source = { kind: "comment_action", actionId } as const;
      return [fromChange("comment_action.completed", message, actionId, source)];
    }),
    on(AutomationRunCompletedSchema, ({ message }) => {
      const { runId } = message;
      return [
        fromChange("automation_run.completed", message, runId, { kind: "automation_run", runId }),
      ];
    }),
  ];
}

/** Returns the handlers by topic. Events of other types in the same topic are skipped. */
export function createWebhookHandlers(
  backlogs: Backlogs,
): Readonly<Record<string, readonly EventHandler[]>> {
  const on = fanOutEvents(backlogs);
  return {
    "accounts.events.v1": [
      on(AccountConnectedSchema, ({ message }) => fromAccount("account.connected", message)),
      on(AccountReconnectRequiredSchema, ({ message }) =>
        fromAccount("account.reconnect_required", message),
      ),
      on(AccountDisconnectedSchema, ({ message }) => fromAccount("account.disconnected", message)),
    ],
    "delivery.events.v1": [
      on(TargetUpdatedSchema, fromTargetUpdated),
      on(DeletionUpdatedSchema, fromDeletionUpdated),
    ],
    "engagement.events.v1": createEngagementHandlers(on),
    "media.events.v1": [
      on(MediaReadySchema, ({ message }) => {
        const { mediaId } = message;
        return [fromChange("media.ready", message, mediaId, { kind: "media", mediaId })];
      }),
    ],
    "posts.events.v1": createPostHandlers(on),
  };
}
