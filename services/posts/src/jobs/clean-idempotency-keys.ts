import type { Logger } from "@postrider/shared/logger";
import { startLoop } from "@postrider/shared/loop";
import type { Sql } from "@postrider/shared/postgres";
import { deleteExpiredKeys } from "#src/db/idempotency-keys.ts";

const EVERY_MS = 10 * 60_000;
const PAGE_KEYS = 1000;

/** Deletes keys that no longer count, a page at a time. Nothing depends on when: an expired key is free anyway. */
export function startCleaningIdempotencyKeys(sql: Sql, logger: Logger): AsyncDisposable {
  return startLoop({
    idleMs: EVERY_MS,
    work: async () => (await deleteExpiredKeys(sql, PAGE_KEYS)) === PAGE_KEYS,
    onError: (error) =>
      logger.warn({ err: error, job: "clean-idempotency-keys" }, "old keys were not deleted"),
  });
}
