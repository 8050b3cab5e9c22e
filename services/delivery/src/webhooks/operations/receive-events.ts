import type { TransactionSql } from "@postrider/shared/postgres";
import { insertArrivals, type Arrival } from "#src/webhooks/db/arrivals.ts";
import type { Match } from "#src/webhooks/db/matches.ts";
import type { Backlogs } from "./backlogs.ts";
import { assign, findEventMatches, type AssignedEvent } from "./fan-out.ts";

/** Maximum number of deliveries of a workspace that the consumer inserts for one batch of events. */
const MAX_DELIVERIES = 500;

/**
 * Assigns the events of a batch of the bus to the webhook subscriptions that receive them. Of a workspace for which that is
 * much work, the events are only stored with their subscriptions, and the job `assign-events` inserts the deliveries: the
 * events of all workspaces follow each other in the bus, so the batch must not take long.
 */
export async function receiveEvents(
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

/** Returns events with all webhook subscriptions that receive them. */
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
