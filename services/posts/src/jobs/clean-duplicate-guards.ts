import type { Sql } from "@postrider/shared/postgres";
import { startLoop } from "@postrider/shared/process/loop";
import type { Logger } from "@postrider/shared/telemetry/logger";
import { deleteExpiredGuards } from "#src/db/duplicate-guards.ts";

const EVERY_MS = 10 * 60_000;
const PAGE_GUARDS = 1000;

/** Deletes guards that have ended, a page at a time. Nothing depends on when: an expired guard is in nobody's way. */
export function startCleaningDuplicateGuards(sql: Sql, logger: Logger): AsyncDisposable {
  return startLoop({
    idleMs: EVERY_MS,
    work: async () => (await deleteExpiredGuards(sql, PAGE_GUARDS)) === PAGE_GUARDS,
    onError: (error) =>
      logger.warn({ err: error, job: "clean-duplicate-guards" }, "old guards were not deleted"),
  });
}
