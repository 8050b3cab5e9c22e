import type { Sql } from "@postrider/shared/postgres";
import { startLoop, type Loop } from "@postrider/shared/process/loop";
import type { Logger } from "@postrider/shared/telemetry/logger";
import {
  cancelDeliveries,
  deleteLane,
  listRevoked,
  lockWaiting,
} from "#src/webhooks/db/cancellations.ts";

const EVERY_MS = 5_000;
/** Maximum number of revoked subscriptions per pass. */
const MAX_SUBSCRIPTIONS = 100;
/** Maximum number of deliveries per transaction. */
const PAGE_SIZE = 500;

/** Cancels a page of the waiting deliveries of a revoked subscription, and returns whether there may be more. */
async function cancelPage(sql: Sql, subscriptionId: string): Promise<boolean> {
  return await sql.begin(async (tx) => {
    const ids = await lockWaiting(tx, subscriptionId, PAGE_SIZE);
    if (ids.length > 0) await cancelDeliveries(tx, ids);
    return ids.length >= PAGE_SIZE;
  });
}

/**
 * Cancels the waiting deliveries of revoked subscriptions until it is disposed of. They are not sent from the moment in which
 * the subscription is revoked; this job only makes their history say so.
 */
export function startCancelDeliveries(options: {
  readonly sql: Sql;
  readonly logger: Logger;
}): Loop {
  const { sql, logger } = options;
  return startLoop({
    idleMs: EVERY_MS,
    work: async () => {
      const revoked = await listRevoked(sql, MAX_SUBSCRIPTIONS);
      let hasMore = false;
      for (const subscriptionId of revoked) {
        const isPageFull = await cancelPage(sql, subscriptionId);
        if (!isPageFull) await deleteLane(sql, subscriptionId);
        hasMore ||= isPageFull;
      }
      return hasMore;
    },
    onError: (error) =>
      logger.warn(
        { err: error },
        "the waiting deliveries of revoked webhook subscriptions could not be cancelled; it is tried again",
      ),
  });
}
