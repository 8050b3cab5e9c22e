import type { DescMessage } from "@bufbuild/protobuf";
import {
  handleEvents,
  type EventHandler,
  type IncomingEvent,
} from "@postrider/shared/bus/consumer";
import type { TransactionSql } from "@postrider/shared/postgres";
import { failpoint } from "@postrider/shared/process/failpoints";
import { insertArrivals, type Arrival } from "#src/webhooks/db/arrivals.ts";
import type { Match } from "#src/webhooks/db/matches.ts";
import type { WebhookEvent } from "#src/webhooks/domain/webhook-event.ts";
import type { Backlogs } from "#src/webhooks/operations/backlogs.ts";
import { assign, findEventMatches, type AssignedEvent } from "#src/webhooks/operations/fan-out.ts";

/**
 * Returns a function that creates handlers. A repeated event changes nothing, because it has the
 * same id. `toEvents` returns the webhook events that an event of the bus stands for.
 */
export function fanOutEvents(backlogs: Backlogs) {
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
