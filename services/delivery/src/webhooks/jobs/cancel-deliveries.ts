import { NIL_ID } from "@postrider/shared/ids";
import type { Sql } from "@postrider/shared/postgres";
import { startLoop, type Loop } from "@postrider/shared/process/loop";
import type { Logger } from "@postrider/shared/telemetry/logger";
import {
  cancelDeliveries,
  deleteLane,
  listRevoked,
  lockQueued,
  lockWaiting,
} from "#src/webhooks/db/cancellations.ts";

const EVERY_MS = 5_000;
/** Maximum number of revoked webhook subscriptions per pass of the job. */
const MAX_SUBSCRIPTIONS = 100;
/** Maximum number of webhook deliveries that one transaction cancels. */
const PAGE_SIZE = 500;

/**
 * Cancels the waiting deliveries of a revoked webhook subscription whose ids follow `after`, one page of them. Returns the
 * last id of the page, or undefined after the last page.
 */
async function cancelPage(
  sql: Sql,
  subscriptionId: string,
  after: string,
): Promise<string | undefined> {
  return await sql.begin(async (tx) => {
    const { ids, last } = await lockWaiting(tx, subscriptionId, { after, limit: PAGE_SIZE });
    // After the last page, the queue has only rows that a transaction added meanwhile.
    const added = last === undefined ? await lockQueued(tx, subscriptionId, PAGE_SIZE) : [];
    const cancelled = [...ids, ...added];
    if (cancelled.length > 0) await cancelDeliveries(tx, cancelled);
    return last ?? added.at(-1);
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
  /** The last cancelled delivery of each webhook subscription whose deliveries are being cancelled. */
  const positions = new Map<string, string>();
  return startLoop({
    idleMs: EVERY_MS,
    work: async () => {
      const revoked = await listRevoked(sql, MAX_SUBSCRIPTIONS);
      let hasMore = false;
      for (const subscriptionId of revoked) {
        const after = positions.get(subscriptionId) ?? NIL_ID;
        const last = await cancelPage(sql, subscriptionId, after);
        hasMore ||= last !== undefined;
        if (last !== undefined) positions.set(subscriptionId, last);
        else {
          positions.delete(subscriptionId);
          await deleteLane(sql, subscriptionId);
        }
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
