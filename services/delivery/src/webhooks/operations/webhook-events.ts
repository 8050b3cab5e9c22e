import type { TransactionSql } from "@postrider/shared/postgres";
import { currentCause } from "@postrider/shared/telemetry/cause";
import { insertCompositions, type NewEvent } from "#src/webhooks/db/compositions.ts";
import type { Subscription } from "#src/webhooks/domain/subscription.ts";
import {
  createWebhookEvent,
  listFilters,
  type WebhookEvent,
} from "#src/webhooks/domain/webhook-event.ts";

type SubscriptionAtVersion = Pick<Subscription, "id" | "workspaceId" | "version">;

/** Makes an event whose id is different for each version of the subscription. */
function subscriptionEvent(
  { id, workspaceId, version }: SubscriptionAtVersion,
  happened: Pick<WebhookEvent, "type" | "occurredAt" | "source">,
): Pick<NewEvent, "event" | "cause"> {
  const event = { workspaceId, sequence: version, ...happened };
  return { event: createWebhookEvent(event, `${id} ${version}`), cause: currentCause() };
}

/** The event webhook.test, with which a new or moved endpoint can be tried. */
export function testEvent(subscription: SubscriptionAtVersion, now: Date): NewEvent {
  const { id } = subscription;
  const source = { kind: "test", webhookId: id } as const;
  const event = { type: "webhook.test", occurredAt: now, source } as const;
  return { ...subscriptionEvent(subscription, event), only: id };
}

/** The event webhook.disabled, which all other subscriptions of the workspace receive. */
export function disabledEvent(
  subscription: SubscriptionAtVersion & Pick<Subscription, "disabledReason">,
  now: Date,
): NewEvent {
  const { id, disabledReason } = subscription;
  const source = { kind: "webhook", webhookId: id, disabledReason } as const;
  const event = { type: "webhook.disabled", occurredAt: now, source } as const;
  return { ...subscriptionEvent(subscription, event), except: id };
}

/** Stores events for the subscriptions that receive them, until their payload is written. */
export async function storeEvents(tx: TransactionSql, events: readonly NewEvent[]): Promise<void> {
  await insertCompositions(
    tx,
    events.map((each) => ({ ...each, filters: listFilters(each.event.type) })),
  );
}
