import type { TransactionSql } from "@postrider/shared/postgres";
import type { Cause } from "@postrider/shared/telemetry/cause";
import { insertCompositions } from "#src/webhooks/db/compositions.ts";
import { insertDeliveries } from "#src/webhooks/db/deliveries.ts";
import { findMatches, type Match } from "#src/webhooks/db/matches.ts";
import { listFilters } from "#src/webhooks/domain/event-types.ts";
import { deliveryIdOf, type WebhookEvent } from "#src/webhooks/domain/webhook-event.ts";
import { destinationOf, type Backlogs } from "./backlogs.ts";

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
 * sent once the job `compose-payloads` has written the payload of their event; those beyond the limits of waiting
 * deliveries have failed, and a user can retry them.
 */
export async function fanOut(
  tx: TransactionSql,
  backlogs: Backlogs,
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
  const matches = await findMatches(tx, events);
  const inserted = await insertWithinLimits(tx, backlogs, { matches, byId });
  const compositions = [...new Set(inserted)].flatMap((eventId) => byId.get(eventId) ?? []);
  await insertCompositions(tx, compositions);
  return inserted.length;
}

/** Inserts deliveries of events to webhook subscriptions, and returns the event of each new one. */
async function insertWithinLimits(
  tx: TransactionSql,
  backlogs: Backlogs,
  {
    matches,
    byId,
  }: {
    readonly matches: readonly Match[];
    readonly byId: ReadonlyMap<string, { readonly event: WebhookEvent }>;
  },
): Promise<readonly string[]> {
  await backlogs.load(
    tx,
    matches.map(({ workspaceId }) => workspaceId),
  );
  const deliveries = matches.flatMap(({ subscriptionId, eventIds, ...subscription }) => {
    const destination = destinationOf(subscription);
    return eventIds.flatMap((eventId) => {
      const event = byId.get(eventId)?.event;
      if (event === undefined) return [];
      const isRefused = backlogs.add(destination) !== undefined;
      return {
        id: deliveryIdOf(event, subscriptionId),
        subscriptionId,
        event,
        destination,
        isRefused,
      };
    });
  });
  const inserted = await insertDeliveries(tx, deliveries);
  const [added, repeated] = partition(deliveries, ({ id }) => inserted.has(id));
  const [refused] = partition(added, ({ isRefused }) => isRefused);
  for (const { isRefused, destination } of repeated) if (!isRefused) backlogs.remove(destination);
  backlogs.reportRefused(refused.map(({ destination }) => destination));
  return added.map(({ event }) => event.id);
}

function partition<T>(
  items: readonly T[],
  isFirst: (item: T) => boolean,
): readonly [readonly T[], readonly T[]] {
  return [items.filter(isFirst), items.filter((item) => !isFirst(item))];
}
