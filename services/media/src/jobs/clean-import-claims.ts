import type { Sql } from "@postrider/shared/postgres";
import { startLoop } from "@postrider/shared/process/loop";
import type { Logger } from "@postrider/shared/telemetry/logger";
import { deleteDeadImportClaims } from "#src/db/import-claims.ts";

const EVERY_MS = 10 * 60_000;
const PAGE_CLAIMS = 1000;

/** Deletes claims that dead processes left, a page at a time. Nothing depends on when: a claim that has ended is free. */
export function startCleaningImportClaims(sql: Sql, logger: Logger): AsyncDisposable {
  return startLoop({
    idleMs: EVERY_MS,
    work: async () => (await deleteDeadImportClaims(sql, PAGE_CLAIMS)) === PAGE_CLAIMS,
    onError: (error) =>
      logger.warn({ err: error, job: "clean-import-claims" }, "old claims were not deleted"),
  });
}
