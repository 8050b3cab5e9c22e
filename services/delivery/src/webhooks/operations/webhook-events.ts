import type { TransactionSql } from "@postrider/shared/postgres";
import { currentCause } from "@postrider/shared/telemetry/cause";
import {
  type Composition,
  insertCompositions,
  type NewEvent,
  readComposition,
} from "#src/webhooks/db/compositions.ts";
import type { WrittenEvent } from "#src/webhooks/db/write-deliveries.ts";
import type { Subscription } from "#src/webhooks/domain/subscription.ts";
import {
  createWebhookEvent,
  listFilters,
  type WebhookEvent,
} from "#src/webhooks/domain/webhook-event.ts";
import type { Backlogs } from "#src/webhooks/operations/backlogs.ts";
import { writeWithinLimits } from "#src/webhooks/operations/write-within-limits.ts";

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
function testEvent(subscription: SubscriptionAtVersion, now: Date): NewEvent {
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

/**
 * Stores webhook.test for a new or moved endpoint. Nothing has to be read for its payload, so its
 * delivery is written at once and is in the history when the request is answered.
 */
export async function storeTest(
  tx: TransactionSql,
  backlogs: Backlogs,
  subscription: Pick<Subscription, "url"> & SubscriptionAtVersion,
  now: Date,
): Promise<void> {
  const test = testEvent(subscription, now);
  await storeEvents(tx, [test]);
  const event = await readComposition(tx, test.event.id);
  if (event === undefined) return;
  const written = toWritten(event, { webhookId: subscription.id });
  await writeWithinLimits(tx, backlogs, [written], new Map([[subscription.id, subscription]]));
}

/** The event with its payload: `data` in the envelope that all events have. */
export function toWritten(event: Composition, data: object): WrittenEvent {
  const { id, type, occurredAt, workspaceId, sequence } = event;
  const timestamp = occurredAt.toISOString();
  const payload = JSON.stringify({ id, type, timestamp, workspaceId, sequence, data });
  return { event, payload };
}

/** Stores events for the subscriptions that receive them, until their payload is written. */
export async function storeEvents(tx: TransactionSql, events: readonly NewEvent[]): Promise<void> {
  await insertCompositions(
    tx,
    events.map((each) => ({ ...each, filters: listFilters(each.event.type) })),
  );
}
