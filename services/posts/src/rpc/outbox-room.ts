import { unavailable } from "@postrider/shared/errors";
import { readOutboxBacklog } from "@postrider/shared/outbox";
import type { Sql } from "@postrider/shared/postgres";

/** With the bus gone, posts go on being accepted until so many events wait. */
const MAX_ROWS = 1_000_000;
const FRESH_MS = 2_000;

/** Refuses what would append to a full outbox; looks at most every 2 seconds. */
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
