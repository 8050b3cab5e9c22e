import type { DescMessage } from "@bufbuild/protobuf";
import {
  AccountConnectedSchema,
  AccountDisconnectedSchema,
  AccountReconnectRequiredSchema,
  type AccountConnected,
  type AccountDisconnected,
  type AccountReconnectRequired,
} from "@postrider/contracts/accounts/v1/accounts_events_pb";
import { PostPublishRequestedSchema as BacklogRequestSchema } from "@postrider/contracts/backlog/v1/backlog_events_pb";
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
import {
  type EventHandler,
  handleEvents,
  type IncomingEvent,
} from "@postrider/shared/bus/consumer";
import { failpoint } from "@postrider/shared/process/failpoints";
import {
  fromChange,
  fromDeletionUpdated,
  fromExhaustions,
  fromPost,
  fromPublishRequest,
  fromTargetUpdated,
} from "#src/webhooks/consumers/from-events.ts";
import type { EventType, WebhookEvent } from "#src/webhooks/domain/webhook-event.ts";
import { storeEvents } from "#src/webhooks/operations/webhook-events.ts";

/**
 * Creates a handler that stores webhook events for the subscriptions that receive them. A repeated
 * event changes nothing, because it has the same id.
 *
 * @param toEvents Returns the webhook events that an event of the bus stands for.
 */
function on<T extends DescMessage>(
  schema: T,
  toEvents: (event: IncomingEvent<T>) => readonly WebhookEvent[],
): EventHandler {
  return handleEvents(schema, async (tx, events) => {
    const received = events.flatMap((incoming) =>
      toEvents(incoming).map((event) => ({ event, cause: incoming.cause })),
    );
    const byId = new Map(received.map((each) => [each.event.id, each]));
    await storeEvents(tx, [...byId.values()]);
    failpoint("delivery.in-webhook-consumer");
  });
}

/** It handles topics independently of publishing, whose group has the name of the service. */
export const WEBHOOKS_GROUP = "delivery.webhooks";

type AccountEvent = AccountConnected | AccountDisconnected | AccountReconnectRequired;

function fromAccount(type: Extract<EventType, `account.${string}`>, message: AccountEvent) {
  const { accountId, platform } = message;
  return [fromChange(type, message, accountId, { kind: "account", accountId, platform })];
}

const POST_HANDLERS: readonly EventHandler[] = [
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

const ENGAGEMENT_HANDLERS: readonly EventHandler[] = [
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

/** The handlers by topic. Events of other types in the same topic are skipped. */
export const WEBHOOK_HANDLERS: Readonly<Record<string, readonly EventHandler[]>> = {
  "accounts.events.v1": [
    on(AccountConnectedSchema, ({ message }) => fromAccount("account.connected", message)),
    on(AccountReconnectRequiredSchema, ({ message }) =>
      fromAccount("account.reconnect_required", message),
    ),
    on(AccountDisconnectedSchema, ({ message }) => fromAccount("account.disconnected", message)),
  ],
  "backlog.events.v1": [on(BacklogRequestSchema, ({ message }) => [fromPublishRequest(message)])],
  "delivery.events.v1": [
    on(TargetUpdatedSchema, fromTargetUpdated),
    on(DeletionUpdatedSchema, fromDeletionUpdated),
  ],
  "engagement.events.v1": ENGAGEMENT_HANDLERS,
  "media.events.v1": [
    on(MediaReadySchema, ({ message }) => {
      const { mediaId } = message;
      return [fromChange("media.ready", message, mediaId, { kind: "media", mediaId })];
    }),
  ],
  "posts.events.v1": POST_HANDLERS,
};
