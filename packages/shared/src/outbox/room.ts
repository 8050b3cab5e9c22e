import { unavailable } from "#src/errors.ts";
import { readOutboxBacklog } from "#src/outbox.ts";
import type { Sql } from "#src/postgres.ts";

/** With the bus gone, requests go on being accepted until so many events wait. */
const MAX_ROWS = 1_000_000;
const FRESH_MS = 2_000;

/**
 * Makes the check that comes before accepting what appends to the service's outbox. It looks at most every 2 seconds.
 *
 * @returns A function that throws `unavailable`, to be repeated 5 seconds later, while the outbox is full.
 */
export function createRoomCheck(sql: Sql, maxRows = MAX_ROWS): () => Promise<void> {
  let hasRoom = true;
  let checkedAt = Number.NEGATIVE_INFINITY;
  return async () => {
    if (performance.now() - checkedAt > FRESH_MS) {
      checkedAt = performance.now();
      const { rows } = await readOutboxBacklog(sql);
      hasRoom = rows < maxRows;
    }
    if (!hasRoom) throw unavailable(undefined, 5_000);
  };
}
