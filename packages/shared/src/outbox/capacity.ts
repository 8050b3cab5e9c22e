import { unavailable } from "#src/errors.ts";
import { readOutboxBacklog } from "#src/outbox.ts";
import { outboxFloorOf } from "#src/outbox/floor.ts";
import type { Sql } from "#src/postgres.ts";

/** From here on requests are refused, because the bus has been unavailable for too long. */
const MAX_ROWS = 1_000_000;
const CHECK_INTERVAL_MS = 2_000;

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
