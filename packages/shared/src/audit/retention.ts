import type { EnvReader } from "#src/config.ts";
import type { Sql } from "#src/postgres.ts";
import { startLoop } from "#src/process/loop.ts";
import type { Logger } from "#src/telemetry/logger.ts";

const CLEAN_EVERY_MS = 10 * 60_000;
const PAGE_ENTRIES = 1_000;

/** The database keeps entries for at least 90 days, whatever a process asks for. */
export function readAuditDays(read: EnvReader): number {
  return read
    .about(
      "Number of days after which entries of the audit log are deleted. Entries about what API keys did with posts, media, comments and webhook deliveries are deleted after 90 days in any case.",
      { level: "advanced" },
    )
    .integer("AUDIT_LOG_DAYS", { default: 400, min: 90, max: 36_500 });
}

interface Options {
  readonly sql: Sql;
  readonly logger: Logger;
  readonly auditDays: number;
}

/** Deletes old entries of the audit log, and deeds that are over 90 days old, in pages. */
export function startCleaningAudit({ sql, logger, auditDays }: Options): AsyncDisposable {
  return startLoop({
    idleMs: CLEAN_EVERY_MS,
    work: async () => {
      const [row] = await sql<{ deleted: number }[]>`
        select delete_old_audit_entries(${PAGE_ENTRIES}, ${auditDays}) as deleted`;
      return row?.deleted === PAGE_ENTRIES;
    },
    onError: (error) =>
      logger.warn(
        { err: error, job: "clean-audit" },
        "old entries of the audit log could not be deleted; the next run of the job tries again",
      ),
  });
}
