import type { Sql } from "@postrider/shared/postgres";
import { startLoop } from "@postrider/shared/process/loop";
import type { Logger } from "@postrider/shared/telemetry/logger";
import { deleteExpiredGuards } from "#src/db/duplicate-guards.ts";

const EVERY_MS = 10 * 60_000;
/** Maximum number of duplicate guards that one statement deletes. */
const PAGE_GUARDS = 1000;

/**
 * Deletes expired duplicate guards from the database, a page at a time. They have no effect any more, so it does not
 * matter how often this job runs.
 */
export function startCleaningDuplicateGuards(sql: Sql, logger: Logger): AsyncDisposable {
  return startLoop({
    idleMs: EVERY_MS,
    work: async () => (await deleteExpiredGuards(sql, PAGE_GUARDS)) === PAGE_GUARDS,
    onError: (error) =>
      logger.warn(
        { err: error, job: "clean-duplicate-guards" },
        "expired duplicate guards could not be deleted; the job clean-duplicate-guards tries again",
      ),
  });
}
