import { currentCause } from "@postrider/shared/telemetry/cause";
import type { Subscription } from "#src/webhooks/domain/subscription.ts";
import { createWebhookEvent } from "#src/webhooks/domain/webhook-event.ts";
import type { AssignedEvent } from "#src/webhooks/operations/fan-out.ts";

/**
 * Returns the event webhook.test, with which a new or moved endpoint can be tried. Only this subscription receives it.
 */
export function testEvent(subscription: Subscription, now: Date): AssignedEvent {
  const { id, workspaceId, version } = subscription;
  const event = {
    workspaceId,
    type: "webhook.test",
    occurredAt: now,
    sequence: version,
    source: { kind: "test", webhookId: id },
  } as const;
  return { event: createWebhookEvent(event, `${id} ${version}`), cause: currentCause(), only: id };
}

/**
 * Returns the event webhook.disabled, which reports to the other subscriptions of the workspace that this one was
 * disabled.
 */
export function disabledEvent(
  subscription: Pick<Subscription, "id" | "workspaceId" | "version" | "disabledReason">,
  now: Date,
): AssignedEvent {
  const { id, workspaceId, version } = subscription;
  const event = {
    workspaceId,
    type: "webhook.disabled",
    occurredAt: now,
    sequence: version,
    source: { kind: "webhook", webhookId: id, disabledReason: subscription.disabledReason },
  } as const;
  return {
    event: createWebhookEvent(event, `${id} ${version}`),
    cause: currentCause(),
    except: id,
  };
}
