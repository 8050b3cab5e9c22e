import type { Sql } from "@postrider/shared/postgres";
import { startLoop } from "@postrider/shared/process/loop";
import type { Logger } from "@postrider/shared/telemetry/logger";
import { deletePastCounters } from "#src/db/quota-usage.ts";

const EVERY_MS = 6 * 60 * 60_000;
/** Maximum number of quota counters that one statement deletes. */
const PAGE_COUNTERS = 5000;

/**
 * Deletes the quota counters of past months and days, a page at a time. Each account has a counter per day, so without
 * this job the table would grow for ever.
 */
export function startCleaningQuotaUsage(sql: Sql, logger: Logger): AsyncDisposable {
  return startLoop({
    idleMs: EVERY_MS,
    work: async () => (await deletePastCounters(sql, PAGE_COUNTERS)) === PAGE_COUNTERS,
    onError: (error) =>
      logger.warn(
        { err: error, job: "clean-quota-usage" },
        "quota counters of past periods could not be deleted; the job clean-quota-usage tries again",
      ),
  });
}
