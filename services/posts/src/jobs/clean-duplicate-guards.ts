import type { Sql } from "@postrider/shared/postgres";
import { startLoop } from "@postrider/shared/process/loop";
import type { Logger } from "@postrider/shared/telemetry/logger";
import { deleteExpiredGuards } from "#src/db/duplicate-guards.ts";

const EVERY_MS = 10 * 60_000;
/** Maximum number of duplicate guards that one statement deletes. */
const PAGE_GUARDS = 1000;

/**
 * Deletes expired duplicate guards, a page at a time. The interval does not matter, because an expired guard has no effect.
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
