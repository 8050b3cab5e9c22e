import { unavailable } from "#src/errors.ts";
import { readOutboxBacklog } from "#src/outbox.ts";
import { outboxFloorOf } from "#src/outbox/floor.ts";
import type { Sql } from "#src/postgres.ts";

/**
 * From this number of events in the outbox, the service refuses requests, because the event bus has been unavailable
 * for too long.
 */
const MAX_ROWS = 1_000_000;
const CHECK_INTERVAL_MS = 2_000;

/**
 * Creates a check to call before a request that appends an event to the outbox. The check measures the outbox at most
 * every 2 s.
 *
 * @returns A function that throws `unavailable`, with a retry after 5 s, while the outbox is full.
 */
export function createOutboxCapacityCheck(sql: Sql, maxRows = MAX_ROWS): () => Promise<void> {
  let hasRoom = true;
  let checkedAt = Number.NEGATIVE_INFINITY;
  return async () => {
    if (performance.now() - checkedAt > CHECK_INTERVAL_MS) {
      checkedAt = performance.now();
      const { rows } = await readOutboxBacklog(sql, outboxFloorOf(sql).id);
      hasRoom = rows < maxRows;
    }
    if (!hasRoom) throw unavailable(undefined, 5_000);
  };
}
