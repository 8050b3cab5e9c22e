import { currentCause } from "@postrider/shared/telemetry/cause";
import type { Subscription } from "#src/webhooks/domain/subscription.ts";
import { createWebhookEvent, type WebhookEvent } from "#src/webhooks/domain/webhook-event.ts";
import type { AssignedEvent } from "#src/webhooks/operations/fan-out.ts";

type SubscriptionAtVersion = Pick<Subscription, "id" | "workspaceId" | "version">;

/** Makes an event whose id is different for each version of the subscription. */
function subscriptionEvent(
  { id, workspaceId, version }: SubscriptionAtVersion,
  happened: Pick<WebhookEvent, "type" | "occurredAt" | "source">,
): Pick<AssignedEvent, "event" | "cause"> {
  const event = { workspaceId, sequence: version, ...happened };
  return { event: createWebhookEvent(event, `${id} ${version}`), cause: currentCause() };
}

/** The event webhook.test, with which a new or moved endpoint can be tried. */
export function testEvent(subscription: SubscriptionAtVersion, now: Date): AssignedEvent {
  const { id } = subscription;
  const source = { kind: "test", webhookId: id } as const;
  const event = { type: "webhook.test", occurredAt: now, source } as const;
  return { ...subscriptionEvent(subscription, event), only: id };
}

/** The event webhook.disabled, which all other subscriptions of the workspace receive. */
export function disabledEvent(
  subscription: SubscriptionAtVersion & Pick<Subscription, "disabledReason">,
  now: Date,
): AssignedEvent {
  const { id, disabledReason } = subscription;
  const source = { kind: "webhook", webhookId: id, disabledReason } as const;
  const event = { type: "webhook.disabled", occurredAt: now, source } as const;
  return { ...subscriptionEvent(subscription, event), except: id };
}
