import type { TransactionSql } from "@postrider/shared/postgres";
import type { Cause } from "@postrider/shared/telemetry/cause";
import { insertCompositions } from "#src/webhooks/db/compositions.ts";
import { insertDeliveries } from "#src/webhooks/db/deliveries.ts";
import { findMatches } from "#src/webhooks/db/matches.ts";
import { listFilters } from "#src/webhooks/domain/event-types.ts";
import { deliveryIdOf, type WebhookEvent } from "#src/webhooks/domain/webhook-event.ts";

/** An event to assign to webhook subscriptions. */
export interface AssignedEvent {
  readonly event: WebhookEvent;
  readonly cause: Cause;
  /**
   * Id of the only webhook subscription that receives the event, whatever its filters. Default: every subscription
   * whose filters match.
   */
  readonly only?: string;
  /** Id of a webhook subscription that does not receive the event. */
  readonly except?: string;
}

/**
 * Inserts one delivery per event and matching webhook subscription, and returns the number of new deliveries. The id of
 * a delivery depends only on the event and the subscription, so a repeated event inserts nothing. The deliveries are
 * sent once the job `compose-payloads` has written the payload of their event.
 */
export async function fanOut(
  tx: TransactionSql,
  assigned: readonly AssignedEvent[],
): Promise<number> {
  if (assigned.length === 0) return 0;
  const byId = new Map(assigned.map((each) => [each.event.id, each]));
  const events = [...byId.values()].map(({ event, only, except }) => ({
    ...event,
    filters: listFilters(event.type),
    only,
    except,
  }));
  const deliveries = (await findMatches(tx, events)).flatMap(({ eventId, subscriptionId }) => {
    const event = byId.get(eventId)?.event;
    return event === undefined
      ? []
      : { id: deliveryIdOf(event, subscriptionId), subscriptionId, event };
  });
  const inserted = await insertDeliveries(tx, deliveries);
  const compositions = [...new Set(inserted)].flatMap((eventId) => byId.get(eventId) ?? []);
  await insertCompositions(tx, compositions);
  return inserted.length;
}
