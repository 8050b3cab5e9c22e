import type { Sql } from "@postrider/shared/postgres";
import { startLoop } from "@postrider/shared/process/loop";
import type { Logger } from "@postrider/shared/telemetry/logger";
import { deleteExpiredGuards } from "#src/db/duplicate-guards.ts";
import { deletePastCounters } from "#src/db/quota-usage.ts";

const MINUTE_MS = 60_000;

const JOBS = [
  {
    job: "clean-duplicate-guards",
    rows: "expired duplicate guards",
    idleMs: 10 * MINUTE_MS,
    pageRows: 1000,
    deleteRows: deleteExpiredGuards,
  },
  {
    job: "clean-quota-usage",
    rows: "quota counters of past periods",
    idleMs: 6 * 60 * MINUTE_MS,
    pageRows: 5000,
    deleteRows: deletePastCounters,
  },
] as const;

export function startCleaningExpiredRows(sql: Sql, logger: Logger): readonly AsyncDisposable[] {
  return JOBS.map(({ job, rows, idleMs, pageRows, deleteRows }) =>
    startLoop({
      idleMs,
      work: async () => (await deleteRows(sql, pageRows)) === pageRows,
      onError: (error) =>
        logger.warn(
          { err: error, job },
          `${rows} could not be deleted; the job ${job} tries again`,
        ),
    }),
  );
}
