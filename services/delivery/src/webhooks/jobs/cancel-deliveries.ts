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
/** Maximum number of revoked webhook subscriptions per pass of the job. */
const MAX_SUBSCRIPTIONS = 100;
/** Maximum number of webhook deliveries that one transaction cancels. */
const PAGE_SIZE = 500;

/**
 * Cancels a page of the waiting deliveries of a revoked webhook subscription, and returns whether there may be more.
 */
async function cancelPage(sql: Sql, subscriptionId: string): Promise<boolean> {
  return await sql.begin(async (tx) => {
    const ids = await lockWaiting(tx, subscriptionId, PAGE_SIZE);
    if (ids.length > 0) await cancelDeliveries(tx, ids);
    return ids.length >= PAGE_SIZE;
  });
}

/**
 * Starts the job that marks the waiting deliveries of revoked webhook subscriptions as cancelled in their history. No
 * delivery is sent after the revocation, even before the job has run.
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
        "the waiting deliveries of revoked webhook subscriptions could not be cancelled; the job cancel-deliveries tries again",
      ),
  });
}
