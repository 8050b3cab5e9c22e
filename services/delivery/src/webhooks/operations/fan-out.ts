import type { TransactionSql } from "@postrider/shared/postgres";
import type { Cause } from "@postrider/shared/telemetry/cause";
import { insertCompositions } from "#src/webhooks/db/compositions.ts";
import { insertDeliveries } from "#src/webhooks/db/deliveries.ts";
import { findMatches, type Match } from "#src/webhooks/db/matches.ts";
import {
  deliveryIdOf,
  listFilters,
  type WebhookEvent,
} from "#src/webhooks/domain/webhook-event.ts";
import { destinationOf, type Backlogs } from "./backlogs.ts";

export interface AssignedEvent {
  readonly event: WebhookEvent;
  readonly cause: Cause;
  /** The only subscription that receives the event, whatever its filters. */
  readonly only?: string;
  /** A subscription that does not receive the event. */
  readonly except?: string;
}

/**
 * Inserts one delivery per event and matching subscription, and returns the number of new ones.
 * Their ids depend only on event and subscription, so a repeated event inserts nothing. They are
 * sent once `compose-payloads` has written the payload; those beyond the limits of waiting
 * deliveries have failed, and a user can retry them.
 */
export async function fanOut(
  tx: TransactionSql,
  backlogs: Backlogs,
  assigned: readonly AssignedEvent[],
): Promise<number> {
  const byId = new Map(assigned.map((each) => [each.event.id, each]));
  const matches = await findEventMatches(tx, [...byId.values()]);
  return await assign(tx, backlogs, { matches, byId });
}

export async function findEventMatches(
  tx: TransactionSql,
  assigned: readonly AssignedEvent[],
): Promise<readonly Match[]> {
  if (assigned.length === 0) return [];
  const events = assigned.map(({ event, only, except }) => ({
    ...event,
    filters: listFilters(event.type),
    only,
    except,
  }));
  return await findMatches(tx, events);
}

interface Assignment {
  readonly matches: readonly Match[];
  readonly byId: ReadonlyMap<string, Pick<AssignedEvent, "event" | "cause">>;
}

export async function assign(
  tx: TransactionSql,
  backlogs: Backlogs,
  assignment: Assignment,
): Promise<number> {
  const inserted = await insertWithinLimits(tx, backlogs, assignment);
  const events = [...new Set(inserted)].flatMap((id) => assignment.byId.get(id) ?? []);
  await insertCompositions(tx, events);
  return inserted.length;
}

/** Inserts deliveries of events to subscriptions, and returns the event of each new one. */
async function insertWithinLimits(
  tx: TransactionSql,
  backlogs: Backlogs,
  { matches, byId }: Assignment,
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
