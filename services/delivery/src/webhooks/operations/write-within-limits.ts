import type { ISql } from "@postrider/shared/postgres";
import { writeDeliveries, type WrittenEvent } from "#src/webhooks/db/write-deliveries.ts";
import type { Subscription } from "#src/webhooks/domain/subscription.ts";
import { deliveryIdOf } from "#src/webhooks/domain/webhook-event.ts";
import { type Backlogs, destinationOf } from "./backlogs.ts";

/** By id; deliveries to others are not written. */
export type Subscriptions = ReadonlyMap<string, Pick<Subscription, "workspaceId" | "url">>;

/** Deliveries beyond the limits of waiting ones have failed, and a user can retry them. */
export async function writeWithinLimits(
  sql: ISql,
  backlogs: Backlogs,
  written: readonly WrittenEvent[],
  subscriptions: Subscriptions,
): Promise<void> {
  await backlogs.load(
    sql,
    written.map(({ event }) => event.workspaceId),
  );
  const deliveries = written.flatMap(({ event }) =>
    event.subscriptionIds.flatMap((subscriptionId) => {
      const subscription = subscriptions.get(subscriptionId);
      if (subscription === undefined) return [];
      const destination = destinationOf(subscription);
      const isRefused = backlogs.add(destination) !== undefined;
      const id = deliveryIdOf(event, subscriptionId);
      return { id, subscriptionId, eventId: event.id, destination, isRefused };
    }),
  );
  let inserted: ReadonlySet<string> = new Set();
  try {
    inserted = await writeDeliveries(sql, written, deliveries);
  } finally {
    for (const { id, isRefused, destination } of deliveries)
      if (!isRefused && !inserted.has(id)) backlogs.remove(destination);
  }
  const refused = deliveries.filter(({ id, isRefused }) => isRefused && inserted.has(id));
  backlogs.reportRefused(refused.map(({ destination }) => destination));
}
