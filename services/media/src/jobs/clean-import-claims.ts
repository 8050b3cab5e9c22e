import type { Sql } from "@postrider/shared/postgres";
import { startLoop } from "@postrider/shared/process/loop";
import type { Logger } from "@postrider/shared/telemetry/logger";
import { deleteExpiredImportClaims } from "#src/db/import-claims.ts";

const INTERVAL_MS = 10 * 60_000;
const PAGE_SIZE = 1000;

/** How often the job runs does not matter, because an expired claim blocks no request. */
export function startCleaningImportClaims(sql: Sql, logger: Logger): AsyncDisposable {
  return startLoop({
    idleMs: INTERVAL_MS,
    work: async () => (await deleteExpiredImportClaims(sql, PAGE_SIZE)) === PAGE_SIZE,
    onError: (error) =>
      logger.warn(
        { err: error, job: "clean-import-claims" },
        "expired claims on media imports could not be deleted; the job clean-import-claims tries again",
      ),
  });
}
