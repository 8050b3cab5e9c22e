import { NIL_ID } from "@postrider/shared/ids";
import type { Sql } from "@postrider/shared/postgres";
import { inHalves } from "@postrider/shared/postgres/in-halves";
import { startLoop, type Loop } from "@postrider/shared/process/loop";
import type { Logger } from "@postrider/shared/telemetry/logger";
import {
  cancelDeliveries,
  deleteLease,
  listRevoked,
  lockWaiting,
} from "#src/webhooks/db/cancellations.ts";

const EVERY_MS = 5_000;
const MAX_SUBSCRIPTIONS = 100;
const PAGE_SIZE = 500;

/** Returns the last id of the page, or undefined after the last page. */
async function cancelPage(
  sql: Sql,
  subscriptionId: string,
  after: string,
): Promise<string | undefined> {
  return await sql.begin(async (tx) => {
    const { ids, last } = await lockWaiting(tx, subscriptionId, { after, limit: PAGE_SIZE });
    if (ids.length > 0) await cancelDeliveries(tx, ids);
    return last;
  });
}

/**
 * Marks waiting deliveries of revoked subscriptions as cancelled. None is sent meanwhile. A
 * subscription whose deliveries cannot be changed delays no other.
 */
export function startCancelDeliveries(options: {
  readonly sql: Sql;
  readonly logger: Logger;
}): Loop {
  const { sql, logger } = options;
  const positions = new Map<string, string>();
  return startLoop({
    idleMs: EVERY_MS,
    work: async () => {
      let hasMore = false;
      const cancelNext = async (subscriptionId: string): Promise<void> => {
        const after = positions.get(subscriptionId) ?? NIL_ID;
        const last = await cancelPage(sql, subscriptionId, after);
        hasMore ||= last !== undefined;
        if (last !== undefined) positions.set(subscriptionId, last);
        else {
          positions.delete(subscriptionId);
          await deleteLease(sql, subscriptionId);
        }
      };
      for (const subscriptionId of await listRevoked(sql, MAX_SUBSCRIPTIONS))
        await inHalves(
          [subscriptionId],
          () => cancelNext(subscriptionId),
          (_, err) =>
            logger.error(
              { err, subscriptionId, job: "cancel-deliveries" },
              "the waiting deliveries of a revoked webhook subscription could not be cancelled; the job cancel-deliveries tries again",
            ),
        );
      return hasMore;
    },
    onError: (error) =>
      logger.warn(
        { err: error },
        "the waiting deliveries of revoked webhook subscriptions could not be cancelled; the job cancel-deliveries tries again",
      ),
  });
}
