import type { DescMessage } from "@bufbuild/protobuf";
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
import {
  type EventHandler,
  handleEvents,
  type IncomingEvent,
} from "@postrider/shared/bus/consumer";
import type { TransactionSql } from "@postrider/shared/postgres";
import { failpoint } from "@postrider/shared/process/failpoints";
import {
  fromChange,
  fromDeletionUpdated,
  fromExhaustions,
  fromPost,
  fromPublishRequest,
  fromTargetUpdated,
} from "#src/webhooks/consumers/from-events.ts";
import { insertArrivals, type Arrival } from "#src/webhooks/db/arrivals.ts";
import type { Match } from "#src/webhooks/db/matches.ts";
import type { EventType, WebhookEvent } from "#src/webhooks/domain/webhook-event.ts";
import type { Backlogs } from "#src/webhooks/operations/backlogs.ts";
import { assign, findEventMatches, type AssignedEvent } from "#src/webhooks/operations/fan-out.ts";

/**
 * Returns a function that creates handlers. A repeated event changes nothing, because it has the
 * same id. `toEvents` returns the webhook events that an event of the bus stands for.
 */
function fanOutEvents(backlogs: Backlogs) {
  return <T extends DescMessage>(
    schema: T,
    toEvents: (event: IncomingEvent<T>) => readonly WebhookEvent[],
  ): EventHandler =>
    handleEvents(schema, async (tx, events) => {
      const assigned = events.flatMap((incoming) =>
        toEvents(incoming).map((event) => ({ event, cause: incoming.cause })),
      );
      await receiveEvents(tx, backlogs, assigned);
      failpoint("delivery.in-webhook-consumer");
    });
}

const MAX_DELIVERIES = 500;

/**
 * Assigns the events of a batch of the bus to subscriptions. Of a workspace for which that is much
 * work, the events are only stored, and the job `assign-events` inserts the deliveries: the events
 * of all workspaces follow each other in the bus, so the batch must not take long.
 */
async function receiveEvents(
  tx: TransactionSql,
  backlogs: Backlogs,
  received: readonly AssignedEvent[],
): Promise<void> {
  const byId = new Map(received.map((each) => [each.event.id, each]));
  const matches = Map.groupBy(
    await findEventMatches(tx, [...byId.values()]),
    ({ workspaceId }) => workspaceId,
  );
  const [few, many] = [[], []] as [Match[], Match[]];
  for (const own of matches.values()) {
    const count = own.reduce((total, { eventIds }) => total + eventIds.length, 0);
    (count > MAX_DELIVERIES ? many : few).push(...own);
  }
  await assign(tx, backlogs, { matches: few, byId });
  await insertArrivals(tx, toArrivals(many, byId));
}

function toArrivals(
  matches: readonly Match[],
  byId: ReadonlyMap<string, AssignedEvent>,
): readonly Arrival[] {
  const arrivals = new Map<string, Arrival & { readonly subscriptionIds: string[] }>();
  for (const { eventIds, subscriptionId } of matches)
    for (const id of eventIds) {
      const each = byId.get(id);
      const known = arrivals.get(id);
      if (known !== undefined) known.subscriptionIds.push(subscriptionId);
      else if (each !== undefined)
        arrivals.set(id, {
          event: each.event,
          cause: each.cause,
          subscriptionIds: [subscriptionId],
        });
    }
  return [...arrivals.values()];
}

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
